/** Windows of document numbers, from the most recent documents to the oldest. */
import { z } from 'zod';
import type { Connection } from '#server/storage/derived-db.ts';

const boundsRow = z.tuple([z.object({ low: z.number().nullable(), high: z.number().nullable() })]);

/** One value each, so that SQLite reads the two ends only. */
const BOUNDS = 'SELECT (SELECT min(number) FROM documents) AS low, (SELECT max(number) FROM documents) AS high';
const BOUNDS_OF_SESSION = `SELECT min(number) AS low, max(number) AS high FROM documents
  WHERE session = (SELECT number FROM sessions WHERE id = @sessionId)`;

export interface Window {
  low: number;
  high: number;
}

/**
 * Yields windows over the documents of a session, or over all; each is twice as large as the one before if the caller
 * answers that it found little.
 */
export function* windowsOf(
  { all }: Connection,
  sessionId: string | undefined,
  firstSize: number,
): Generator<Window, void, boolean> {
  const [{ low, high }] = boundsRow.parse(
    sessionId === undefined ? all(BOUNDS) : all(BOUNDS_OF_SESSION, { sessionId }),
  );
  if (low === null || high === null) return;
  let size = firstSize;
  for (let top = high; top >= low;) {
    const bottom = Math.max(low, top - size + 1);
    const foundLittle = yield { low: bottom, high: top };
    top = bottom - 1;
    if (foundLittle) size *= 2;
  }
}
