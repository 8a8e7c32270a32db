/** The lock of a session: the owner of the lease `lock.<n>` in its folder may write it. */
import { ServiceError } from '#server/errors/service-error.ts';
import { LeaseLostError, type LeaseHolder, type LeaseOwner } from '#server/storage/lease.ts';
import { journalFiles } from './journal-files.ts';

export interface Lock {
  /** Called by the journal's writer before each write. Throws `session.busy` with the new owner after a take-over. */
  fence(): void;
  release(): Promise<void>;
}

/** The live server that owns the session in `dir`, if any. */
export const lockOwner = journalFiles.lockOwner;

/** Whether the last owner released the lock, or there never was one; false also while a live server owns it. */
export const wasReleased = journalFiles.lockReleased;

/** Throws `session.busy` while a live server owns the session. */
export async function assertNotHeld(dir: string, sessionId: string, holder: LeaseHolder): Promise<void> {
  const owner = await lockOwner(dir, holder);
  if (owner) throw heldElsewhere(sessionId, owner, holder);
}

/** Acquires the session's lock. Throws `session.busy` while a live server owns it, and errors of the file system. */
export async function acquireLock(dir: string, sessionId: string, holder: LeaseHolder): Promise<Lock> {
  const taken = await journalFiles.takeLock(dir, holder);
  if ('owner' in taken) throw heldElsewhere(sessionId, taken.owner, holder);
  const { lease } = taken;
  return {
    release: lease.release,
    fence() {
      try {
        lease.fence();
      } catch (error) {
        throw error instanceof LeaseLostError ? heldElsewhere(sessionId, error.owner, holder, error) : error;
      }
    },
  };
}

/** The `session.busy` error of a session that another server owns. */
function heldElsewhere(
  sessionId: string,
  owner: LeaseOwner | undefined,
  holder: LeaseHolder,
  cause?: unknown,
): ServiceError {
  if (!owner) return new ServiceError('session.busy', `session ${sessionId} went to another server`, { cause });
  const { pid, server_id } = owner;
  const place = owner.machine === holder.self.machine ? '' : ` of server ${server_id} on another machine`;
  const message = `session ${sessionId} is held by process ${pid}${place}; use that server, or stop it first`;
  return new ServiceError('session.busy', message, { details: { reason: 'lock', pid }, cause });
}
