/** A server process of its own: writes 100 rows into the index of a home. Arguments: home, prefix of the ids. */
import { createLogger } from '#server/logging/log.ts';
import { createSessionIndex } from '#server/sessions/session-index.ts';
import { indexSchema } from '#server/sessions/session-header.ts';
import { createIndexDb } from '#server/storage/index-db.ts';

const [, , home = '', prefix = ''] = process.argv;
const log = createLogger('warn', (line) => {
  throw new Error(line);
});
const db = createIndexDb({ home, schema: indexSchema, log });
const index = createSessionIndex({ db, log, sessionsDir: '/nowhere', read: async () => undefined });
for (let place = 0; place < 100; place++) {
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
      cron: false,
    },
    0,
  );
}
await index.close();
