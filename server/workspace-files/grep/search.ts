/** What the engines of grep have in common. */
import type { GrepRequest } from '#schema/grep.ts';
import type { Collector } from './collect.ts';
import type { Selection } from './selection.ts';

export const GREP_TIMEOUT_MS = 30_000;

export interface Search {
  /** Where it runs; paths are relative to it. */
  root: string;
  request: GrepRequest;
  selection: Selection;
  collector: Collector;
  signal: AbortSignal;
  /** A time of `performance.now()`. */
  until: number;
}

/** Thrown inside when time is up. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}
