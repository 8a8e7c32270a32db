/**
 * The lock of remote control: a lease of the home, with a document that describes its owner to the other servers. One
 * per home, because the device id is one per home.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { Clock } from '#server/clock.ts';
import { errorCode } from '#server/errors/errno.ts';
import type { Documents } from '#server/storage/documents.ts';
import { acquireLease, leaseOwner, type LeaseHolder, type LeaseOwner } from '#server/storage/lease.ts';
import { iso } from '#schema/scalars.ts';
import type { RemoteConflict } from '#schema/rest/remote-control.ts';

const HOLDER = 'remote:holder.json';
const MARK = 'remote:registration.json';

const purposes = ['tunnel', 'maintenance'] as const;
/** `maintenance`: the device is deactivated or deleted, or its login ends. */
export type Purpose = (typeof purposes)[number];

const holderSchema = z.object({
  version: z.literal(1),
  purpose: z.enum(purposes),
  server_id: z.string(),
  pid: z.number().int(),
  local_origin: z.string(),
  device_id: z.string(),
  /** Empty until the device is registered. */
  url: z.string(),
  started_at: z.string(),
});

const markSchema = z.object({
  version: z.literal(1),
  device_id: z.string(),
  oauth_key: z.string(),
  registered_at: z.string(),
});

/** A new owner writes its document right after it has taken the lease. */
const RETRIES = 3;
const RETRY_MS = 50;

/** A live server of the home that owns the lock. */
export interface LockOwner {
  purpose: Purpose;
  conflict: RemoteConflict;
}

export interface RemoteLock {
  /** Throws `LeaseLostError` if another server has taken the lock while this one was suspended. */
  fence(): void;
  /** Writes the document of the owner. Throws as `fence`, and `persistence.failure`. */
  describe(purpose: Purpose, url: string): Promise<void>;
  /** Removes the document and releases the lock. */
  release(): Promise<void>;
}

export interface RemoteLocks {
  /** Acquires the lock, or returns its live owner. Throws `persistence.failure` and file system errors. */
  acquire(purpose: Purpose): Promise<{ lock: RemoteLock } | { owner: LockOwner }>;
  /** The other live server that owns the lock. */
  owner(): Promise<LockOwner | undefined>;
  /** Records that the device is registered at the relay. */
  mark(oauthKey: string): Promise<void>;
  /** Whether the device may be registered. */
  isMarked(): Promise<boolean>;
  unmark(): Promise<void>;
}

export interface RemoteLocksDeps {
  home: string;
  documents: Documents;
  holder: LeaseHolder;
  deviceId: string;
  localOrigin(): string;
  clock: Clock;
}

/** Creates the access to the lock; the disk is first accessed by its functions. */
export function createRemoteLocks(deps: RemoteLocksDeps): RemoteLocks {
  const { home, documents, holder, deviceId, localOrigin, clock } = deps;
  const folder = join(home, 'remote');
  const path = join(folder, 'lock');

  /** An unreadable document is treated as missing. */
  const document = () => documents.get(HOLDER, holderSchema).catch(() => undefined);

  async function describeOwner({ server_id, pid }: LeaseOwner): Promise<LockOwner> {
    for (let attempt = 0; ; attempt += 1) {
      const found = await document();
      if (found?.server_id === server_id) {
        const { purpose, local_origin, device_id, url, started_at } = found;
        return { purpose, conflict: { pid, local_origin, device_id, url, started_at } };
      }
      if (attempt === RETRIES) break;
      await delay(RETRY_MS);
    }
    return { purpose: 'tunnel', conflict: { pid, local_origin: '', device_id: '', url: '', started_at: '' } };
  }

  return {
    async acquire(purpose) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const taken = await acquireLease(path, holder);
      if ('owner' in taken) return { owner: await describeOwner(taken.owner) };
      const { lease } = taken;
      const started_at = iso(clock.now());
      let isLost = false;
      const fence = () => {
        try {
          lease.fence();
        } catch (error) {
          isLost = true;
          throw error;
        }
      };
      const lock: RemoteLock = {
        fence,
        async describe(now, url) {
          fence();
          const { server_id, pid } = holder.self;
          const facts = { server_id, pid, local_origin: localOrigin(), device_id: deviceId };
          await documents.set(HOLDER, holderSchema, { version: 1, purpose: now, ...facts, url, started_at });
        },
        async release() {
          try {
            if (!isLost) {
              lease.fence();
              await documents.remove(HOLDER);
            }
          } catch {
            // The document is the new owner's, or names a server without the lease, which other servers ignore.
          } finally {
            await lease.release();
          }
        },
      };
      try {
        await lock.describe(purpose, '');
      } catch (error) {
        await lock.release();
        throw error;
      }
      return { lock };
    },
    async owner() {
      const owner = await leaseOwner(path, holder).catch(absent);
      return owner && owner.server_id !== holder.self.server_id ? describeOwner(owner) : undefined;
    },
    async mark(oauthKey) {
      const facts = { device_id: deviceId, oauth_key: oauthKey, registered_at: iso(clock.now()) };
      await documents.set(MARK, markSchema, { version: 1, ...facts });
    },
    // A damaged mark is one all the same: the request to the relay is harmless for an unknown device.
    isMarked: async () => (await documents.getText(MARK)) !== undefined,
    unmark: () => documents.remove(MARK),
  };
}

/** The folder is created with the first lock. */
function absent(error: unknown): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
}
