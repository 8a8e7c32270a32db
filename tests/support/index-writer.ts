/**
 * A separate server process: writes 25 rows into the index of each home that its parent sends, and answers with the
 * failed ones. Argument: the prefix of the ids.
 */
import { once } from 'node:events';
import * as z from 'zod';
import { createLogger } from '#server/logging/log.ts';
import { createSessionIndex } from '#server/sessions/index/session-index.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { createIndexDb } from '#server/storage/index-db.ts';

const [, , prefix = ''] = process.argv;
const log = createLogger('warn', (line) => {
  throw new Error(line);
});

async function write(home: string): Promise<void> {
  const db = createIndexDb({ home, schema: indexSchema, log });
  const index = createSessionIndex({ db, log, sessionsDir: '/nowhere', read: async () => undefined });
  for (let place = 0; place < 25; place++) {
    index.upsert(
      {
        id: `${prefix}${place}`,
        workspaceId: 'wd_one_000000000001',
        cwd: '/projects/one',
        title: '',
        createdAt: place,
        updatedAt: place,
        archived: false,
        custom: {},
        open: false,
        settled: false,
        wakes: [],
      },
      0,
    );
  }
  await index.close();
}

process.send?.('ready');
for (;;) {
  const [home] = await once(process, 'message');
  const failure = await write(z.string().parse(home)).catch(String);
  process.send?.(failure ?? 'written');
}
