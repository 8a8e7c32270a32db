/** A server that takes leases, without a heartbeat of its own: it is never silent. */
import { processStart, thisProcess } from '#server/processes/process-identity.ts';
import { acquireLease, type LeaseHolder } from '#server/storage/lease.ts';

const here = await thisProcess();

/** One of this process; `extra` says what is different about it. */
export function leaseHolder(serverId: string = 'server_1', extra: Partial<LeaseHolder> = {}): LeaseHolder {
  return {
    self: { server_id: serverId, ...here },
    alive: async (owner) => owner.machine === here.machine && (await processStart(owner.pid)) === owner.start,
    silences: () => 0,
    ...extra,
  };
}

/** A server that `suspend` suspends: meanwhile another server takes its lease at `path` over and releases it. */
export function suspendableHolder(serverId = 'server_1') {
  let silences = 0;
  return {
    holder: leaseHolder(serverId, { silences: () => silences }),
    async suspend(path: string): Promise<void> {
      const taken = await acquireLease(path, leaseHolder('robber', { alive: async () => false }));
      if ('owner' in taken) throw new Error(`${path} was not taken over`);
      await taken.lease.release();
      silences += 1;
    },
  };
}

/** As the file of a lease whose server was killed. */
export const deadOwner = (): string =>
  JSON.stringify({ server_id: 'gone', machine: here.machine, pid: 2 ** 22 + 1, start: 'long ago' });
