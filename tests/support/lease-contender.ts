/** A process that tries to acquire the lease of a folder when its parent sends a message; started by lease.test.ts. */
import { join } from 'node:path';
import { acquireLease } from '#server/storage/lease.ts';
import { leaseHolder } from './lease-holder.ts';

process.on('message', (dir: string) => {
  acquireLease(join(dir, 'lock'), leaseHolder()).then(
    (taken) => process.send?.('lease' in taken ? 'won' : `held by ${taken.owner.pid}`),
    (error: unknown) => process.send?.(`failed: ${String(error)}`),
  );
});
process.send?.('ready');
