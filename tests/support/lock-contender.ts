/** A process that tries to take the lock of a folder as soon as it is told to; started by lock.test.ts. */
import { acquireLock } from '#server/journal/lock.ts';

process.on('message', (dir: string) => {
  acquireLock(dir).then(
    (taken) => process.send?.('lock' in taken ? 'won' : `held by ${taken.owner.pid}`),
    (error: unknown) => process.send?.(`failed: ${String(error)}`),
  );
});
process.send?.('ready');
