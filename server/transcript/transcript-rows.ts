/**
 * The transcript rows: how records of each type change a transcript. The core's rows and those of features have one
 * type.
 */
import type { JournalRecord } from '#server/journal/records.ts';
import type { AgentTranscript } from './agent-transcript.ts';
import type { StoredOp, StoredState } from './reducer/state.ts';

/**
 * Returns the transcript operations of a record. A row reads the agent's state; it changes only counters and the
 * roster, as the operations change the rest.
 */
export type Row<T extends JournalRecord['type'] = JournalRecord['type']> = (
  agent: AgentTranscript,
  record: Extract<JournalRecord, { type: T }>,
  t: number,
) => StoredOp[];

/** Rows by record type. */
export type RecordMappers = { readonly [T in JournalRecord['type']]?: Row<T> };

/** How an undo restores a feature's part of an agent's transcript. */
export interface TranscriptUndo<Saved = unknown> {
  /** Returns the value from which `restore` later restores this part; plain data. */
  checkpoint(state: StoredState): Saved;
  restore(state: StoredState, saved: Saved): StoredOp[];
}

/** The part of a feature that concerns transcripts. */
export interface TranscriptFeature {
  /** Rows of the feature's records, and of other records that concern it. */
  readonly transcript?: RecordMappers;
  readonly transcriptUndo?: TranscriptUndo;
}
