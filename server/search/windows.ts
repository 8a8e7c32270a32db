/** Windows of document numbers, from the most recent documents to the oldest. */
import * as z from 'zod';
import type { Connection } from '#server/storage/derived-db.ts';
import { FIRST_FRESH } from './tables.ts';

const bound = z.number().nullable();
const boundsRow = z.tuple([z.object({ low: bound, high: bound, filledLow: bound, filledHigh: bound })]);

/** One value each, so that SQLite reads the ends only. */
const boundsIn = (documents: string): string => `SELECT
  (SELECT min(number) FROM ${documents} number >= ${FIRST_FRESH}) AS low,
  (SELECT max(number) FROM ${documents} number >= ${FIRST_FRESH}) AS high,
  (SELECT min(number) FROM ${documents} number < ${FIRST_FRESH}) AS filledLow,
  (SELECT max(number) FROM ${documents} number < ${FIRST_FRESH}) AS filledHigh`;
const BOUNDS = boundsIn('documents WHERE');
const BOUNDS_OF_SESSION = boundsIn('documents WHERE session = (SELECT number FROM sessions WHERE id = @sessionId) AND');

/** Each window looks up its terms again: many small ones take longer than a few large ones. */
const QUICK_MS = 10;
/** A window after a quick one is not slow, unless its documents differ. */
const GROWTH = 4;
/** The thread does nothing else while a window is read, and a query exceeds its time by one. */
const SLOW_MS = 50;

export interface Window {
  low: number;
  high: number;
}

/**
 * The condition of a document's number. Numbers are bound as REAL; limits of a rowid that are not integers make FTS5 read
 * all documents of a term.
 */
export const IN_WINDOW = 'BETWEEN CAST(@low AS INTEGER) AND CAST(@high AS INTEGER)';

/**
 * Yields windows over the documents of a session, or over all. The caller answers how long it took to read one, in ms:
 * the next one is four times as large after a quick one, half as large after a slow one. Fresh documents, and all of one
 * session, are the more recent the higher their number is; of those that a fill added the first ones are the most recent.
 */
export function* windowsOf(
  { all }: Connection,
  sessionId: string | undefined,
  firstSize: number,
): Generator<Window, void, number> {
  const [{ low, high, filledLow, filledHigh }] = boundsRow.parse(
    sessionId === undefined ? all(BOUNDS) : all(BOUNDS_OF_SESSION, { sessionId }),
  );
  let size = firstSize;
  if (low !== null && high !== null) size = yield* downward({ low, high }, size);
  if (filledLow === null || filledHigh === null) return;
  const filled = { low: filledLow, high: filledHigh };
  yield* sessionId === undefined ? upward(filled, size) : downward(filled, size);
}

const nextSize = (size: number, ms: number): number =>
  ms < QUICK_MS ? size * GROWTH : ms > SLOW_MS ? Math.ceil(size / 2) : size;

/** Returns the size of the next window. */
function* downward({ low, high }: Window, firstSize: number): Generator<Window, number, number> {
  let size = firstSize;
  for (let top = high; top >= low;) {
    const bottom = Math.max(low, top - size + 1);
    size = nextSize(size, yield { low: bottom, high: top });
    top = bottom - 1;
  }
  return size;
}

function* upward({ low, high }: Window, firstSize: number): Generator<Window, number, number> {
  let size = firstSize;
  for (let bottom = low; bottom <= high;) {
    const top = Math.min(high, bottom + size - 1);
    size = nextSize(size, yield { low: bottom, high: top });
    bottom = top + 1;
  }
  return size;
}
