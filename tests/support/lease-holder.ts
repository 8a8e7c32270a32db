/** Lease holders for tests. They have no heartbeat: they are never treated as silent. */
import { processStart, thisProcess } from '#server/processes/process-identity.ts';
import { acquireLease, type LeaseHolder } from '#server/storage/lease.ts';

const here = await thisProcess();

/** A holder of this process; `extra` overrides members. */
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

/** Content of the lease file of a killed server. */
export const deadOwner = (): string =>
  JSON.stringify({ server_id: 'gone', machine: here.machine, pid: 2 ** 22 + 1, start: 'long ago' });
