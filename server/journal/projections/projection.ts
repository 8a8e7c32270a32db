import type { JournalHeader } from '../header.ts';
import type { JournalRecord } from '../records.ts';

/**
 * A pure fold over the records of a journal, in file order: no clock, no file, no config. A record that it does not
 * handle has no effect. Live appends and loading run the same function.
 */
export interface Projection<State> {
  initial(header: JournalHeader): State;
  /** `t` is the time of the record's line. */
  apply(state: State, record: JournalRecord, t: number): void;
}
