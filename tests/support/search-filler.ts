/**
 * A separate process that indexes sessions as a server does that owns the lease, until it is killed. Arguments: the home
 * and the folder of its sessions; each message of its parent is a session that has changed.
 */
import { join } from 'node:path';
import { createLogger } from '#server/logging/log.ts';
import { hintSchema } from '#server/search/messages.ts';
import { openSearchThread } from '#server/search/open-thread.ts';
import { searchSchema } from '#server/search/tables.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { indexPath } from '#server/storage/index-db.ts';

const [, , home = '', sessionsDir = ''] = process.argv;
const fill = () => void thread.send({ kind: 'fill', active: true });
const thread = openSearchThread({
  options: {
    path: join(home, 'cache', `search-v${searchSchema.version}.db`),
    sessionIndex: indexPath(home, indexSchema),
    sessionsDir,
    passEveryMs: 20,
  },
  events: { onDeath: () => process.exit(1), onCheckLease: fill },
  log: createLogger('warn'),
});
process.on('message', (hint) => thread.send({ kind: 'hints', hints: [hintSchema.parse(hint)] }));
await thread.request({ kind: 'open' });
fill();
process.send?.('filling');
