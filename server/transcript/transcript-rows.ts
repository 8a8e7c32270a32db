/** What a record of each type makes in a transcript: the core's rows and those that features bring have one shape. */
import type { JournalRecord } from '#server/journal/records.ts';
import type { AgentTranscript } from './agent-transcript.ts';
import type { HeldOp } from './reducer/state.ts';

/**
 * The operations that a record makes in the transcript of its agent. A row reads the agent's state and changes nothing of
 * it but the counters and the roster: the operations do.
 */
export type Row<T extends JournalRecord['type'] = JournalRecord['type']> = (
  agent: AgentTranscript,
  record: Extract<JournalRecord, { type: T }>,
  t: number,
) => HeldOp[];

/** By record type. */
export type TranscriptRows = { readonly [T in JournalRecord['type']]?: Row<T> };
