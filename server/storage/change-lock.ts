/** One change at a time among the servers of a home: a lease that is held from reading to replacing. */
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { acquireLease, type Lease, type LeaseHolder } from './lease.ts';

const MAX_WAIT_MS = 10_000;
const RETRY_MS = 5;

export interface ChangeLock {
  /**
   * Runs the work while no other server does. `fence` is to be called before each write: it throws when this server was
   * asleep and another one has the lock. Throws 50003 when the lock cannot be had. Not to be taken within itself.
   */
  hold<T>(work: (fence: () => void) => Promise<T>): Promise<T>;
}

export interface ChangeLockOptions {
  /** The lease's path; its folder must exist. */
  path: string;
  holder: LeaseHolder;
  /** How long a live owner is waited for, in ms. */
  maxWaitMs?: number;
}

/** Takes nothing yet. */
export function createChangeLock({ path, holder, maxWaitMs = MAX_WAIT_MS }: ChangeLockOptions): ChangeLock {
  const failure = (reason: string, cause?: unknown) =>
    new ServiceError('persistence.failure', `the lock ${path} cannot be had: ${reason}`, { cause });

  async function acquire(): Promise<Lease> {
    const end = performance.now() + maxWaitMs;
    for (;;) {
      const taken = await acquireLease(path, holder).catch((error: unknown) => {
        throw failure(errorMessage(error), error);
      });
      if ('lease' in taken) return taken.lease;
      if (performance.now() >= end) throw failure(`process ${taken.owner.pid} holds it`);
      // Not all at the same moments.
      await delay(RETRY_MS * (1 + Math.random()));
    }
  }

  function fence(lease: Lease): void {
    try {
      lease.fence();
    } catch (error) {
      throw failure(errorMessage(error), error);
    }
  }

  return {
    async hold(work) {
      const lease = await acquire();
      try {
        return await work(() => fence(lease));
      } finally {
        await lease.release();
      }
    },
  };
}
