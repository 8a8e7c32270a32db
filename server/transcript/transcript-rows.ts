/** What a record of each type makes in a transcript: the core's rows and those that features bring have one shape. */
import type { JournalRecord } from '#server/journal/records.ts';
import type { AgentTranscript } from './agent-transcript.ts';
import type { HeldOp, HeldState } from './reducer/state.ts';

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

/** How an undo restores a feature's part of an agent's transcript. */
export interface TranscriptUndo<Saved = unknown> {
  /** What `restore` needs later to bring the part back to the present one: plain data. */
  checkpoint(state: HeldState): Saved;
  restore(state: HeldState, saved: Saved): HeldOp[];
}

/** What a feature brings to transcripts. */
export interface TranscriptFeature {
  /** What its records make in the transcript, and what those of others make there of it. */
  readonly transcript?: TranscriptRows;
  readonly transcriptUndo?: TranscriptUndo;
}
