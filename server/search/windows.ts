/** Windows of document numbers, from the most recent documents to the oldest. */
import { z } from 'zod';
import type { Connection } from '#server/storage/index-db.ts';

const FIRST_WINDOW = 20_000;

const boundsRow = z.tuple([z.object({ low: z.number().nullable(), high: z.number().nullable() })]);

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
  firstSize = FIRST_WINDOW,
): Generator<Window, void, boolean> {
  const every = 'SELECT min(number) AS low, max(number) AS high FROM documents';
  const [{ low, high }] = boundsRow.parse(
    sessionId === undefined
      ? all(every)
      : all(`${every} WHERE session = (SELECT number FROM sessions WHERE id = @sessionId)`, { sessionId }),
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
