/** The order of a query's matches. */
import type { Query } from './query.ts';
import type { Window } from './windows.ts';

/** A document that matches, with what its place in the order depends on. */
export interface Match {
  number: number;
  score: number;
  time: number;
  sessionId: string;
  key: string;
}

/** The place of a match: the next page begins after it. */
export type Place = Omit<Match, 'number'>;

/**
 * Finds the first matches of a window, and adds to the budget what it read. If there are enough matches, `last` is the
 * last of them: those after it may be omitted.
 */
export type FindInWindow = (window: Window, last: Match | undefined) => Match[] | Promise<Match[]>;

type Compare = (a: Place, b: Place) => number;

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const byKey: Compare = (a, b) => compareText(a.sessionId, b.sessionId) || compareText(a.key, b.key);
const newest: Compare = (a, b) => b.time - a.time || byKey(a, b);
const oldest: Compare = (a, b) => a.time - b.time || byKey(a, b);
const best: Compare = (a, b) => b.score - a.score || newest(a, b);

/** The comparison by which the matches of a query are sorted. */
export function orderOf({ mode, sort }: Pick<Query, 'mode' | 'sort'>): Compare {
  if (mode === 'literal' || sort === 'time_desc') return newest;
  return sort === 'time_asc' ? oldest : best;
}
