/**
 * A process that registers workspaces of a home, or acquires the lock and keeps it, when its parent sends a message;
 * started by workspaces.test.ts.
 */
import { join } from 'node:path';
import { createLogger } from '#server/logging/log.ts';
import { systemClock } from '#server/clock.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { createRegistryWriter } from '#server/workspaces/registry-document.ts';
import { createWorkspaces } from '#server/workspaces/workspaces.ts';
import { leaseHolder } from './lease-holder.ts';

const [home = '', name = ''] = process.argv.slice(2);
const documents = createDocuments({ home });
const lock = createChangeLock({
  path: join(home, 'workspaces.json.lock'),
  holder: leaseHolder(name),
  writer: createRegistryWriter(documents),
});
const workspaces = createWorkspaces({
  documents,
  lock,
  index: { ready: async () => undefined, workspaces: () => [] },
  publish: () => undefined,
  log: createLogger('silent'),
  clock: systemClock,
});

/** Registers `count` workspaces and removes every third of them. */
async function write(count: number): Promise<string> {
  for (let at = 0; at < count; at += 1) {
    const { id } = await workspaces.register(`/x/${name}-${at}`);
    if (at % 3 === 2) await workspaces.unregister(id);
  }
  await workspaces.close();
  return 'done';
}

function keep(): Promise<never> {
  return lock.hold(() => {
    process.send?.('held');
    return new Promise<never>(() => setInterval(() => undefined, 1000));
  });
}

process.on('message', (wanted: number | 'keep') => {
  (wanted === 'keep' ? keep() : write(wanted)).then(
    (said: string) => process.send?.(said),
    (error: unknown) => process.send?.(`failed: ${String(error)}`),
  );
});
process.send?.('ready');
