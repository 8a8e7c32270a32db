import { expect } from 'vitest';
import * as z from 'zod';
import { createLogger } from '#server/logging/log.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import type { ClientView } from './client-view.ts';

const rowsSchema = z.array(z.object({ id: z.string(), title: z.string() }));
const byId = (sessions: { id: string; title: string }[]) =>
  Object.fromEntries(sessions.map(({ id, title }) => [id, title]));

/**
 * Resolves when the index matches the client's view. A refused row is retried after five seconds; if the server is
 * killed before, lists have the older row until the session is loaded.
 */
export async function untilIndexed(home: string, { sessions }: ClientView): Promise<void> {
  const db = createIndexDb({ home, schema: indexSchema, log: createLogger('silent') });
  try {
    const titles = () => byId(rowsSchema.parse(db.run(({ all }) => all('SELECT id, title FROM sessions'))));
    await expect.poll(titles).toEqual(byId(sessions));
  } finally {
    db.close();
  }
}
