/** Types shared by the engines of grep. */
import type { GrepRequest } from '#schema/rest/grep.ts';
import type { Collector } from './collect.ts';
import type { Selection } from './selection.ts';

export const GREP_TIMEOUT_MS = 30_000;

export interface Search {
  /** The directory that is searched; paths are relative to it. */
  root: string;
  request: GrepRequest;
  selection: Selection;
  collector: Collector;
  signal: AbortSignal;
  /** Deadline, as a time of `performance.now()`. */
  until: number;
}

/** Internal error after the deadline. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}
