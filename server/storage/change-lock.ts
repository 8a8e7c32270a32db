/** Mutual exclusion for read-modify-write changes of a file that is shared by the servers of a home. */
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { acquireLease, type Lease, type LeaseHolder } from './lease.ts';

const MAX_WAIT_MS = 10_000;
/** Each attempt writes a file, so those of a long wait are less frequent. */
const RETRY_MS = { first: 5, last: 200 };
const RETRIES_BEFORE_SLOWER = 200;

/** An object whose members are functions that write. */
export type WriteFunctions<Writer> = { [Name in keyof Writer]: (...args: never[]) => Promise<unknown> };

export interface ChangeLock<Writer> {
  /**
   * Runs `work` while no other server of the home runs any under this lock, and passes it the write functions. Each of
   * them throws `persistence.failure` without writing if another server has taken the lock while this process was
   * suspended, or if the work has settled. Throws `persistence.failure` if the lock cannot be acquired, and the reason
   * of `signal` if that is aborted before. Not reentrant.
   */
  hold<T>(work: (writer: Writer) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface ChangeLockOptions<Writer> {
  /** Path of the lease file; its folder must exist. */
  path: string;
  holder: LeaseHolder;
  /** Functions that write the protected files. Callers receive them only through `hold`, so each write is fenced. */
  writer: Writer;
  /** Maximum wait for a live owner, in ms. */
  maxWaitMs?: number;
}

/** Creates a lock; the disk is first accessed by `hold`. */
export function createChangeLock<Writer extends WriteFunctions<Writer>>(
  options: ChangeLockOptions<Writer>,
): ChangeLock<Writer> {
  const { path, holder, writer, maxWaitMs = MAX_WAIT_MS } = options;
  const failure = (reason: string, cause?: unknown) =>
    new ServiceError('persistence.failure', `the lock ${path} cannot be had: ${reason}`, { cause });

  async function acquire(signal: AbortSignal | undefined): Promise<Lease> {
    const end = performance.now() + maxWaitMs;
    for (let attempt = 0; ; attempt += 1) {
      signal?.throwIfAborted();
      const taken = await acquireLease(path, holder).catch((error: unknown) => {
        throw failure(errorMessage(error), error);
      });
      if ('lease' in taken) return taken.lease;
      if (performance.now() >= end) throw failure(`process ${taken.owner.pid} holds it`);
      // Jitter: servers that wait at the same time must not retry at the same time.
      const retryMs = attempt < RETRIES_BEFORE_SLOWER ? RETRY_MS.first : RETRY_MS.last;
      await delay(retryMs * (1 + Math.random()));
    }
  }

  return {
    async hold(work, signal) {
      const lease = await acquire(signal);
      let released = false;
      function fence(): void {
        if (released) throw failure('it was released before this write');
        try {
          lease.fence();
        } catch (error) {
          throw failure(errorMessage(error), error);
        }
      }
      try {
        return await work(fenced(writer, fence));
      } finally {
        released = true;
        await lease.release();
      }
    },
  };
}

/** Wraps each function so that it calls `fence` before it writes. */
function fenced<Writer extends WriteFunctions<Writer>>(writer: Writer, fence: () => void): Writer {
  const copy = { ...writer };
  for (const name in writer) {
    copy[name] = new Proxy(writer[name], {
      async apply(write, self, args) {
        fence();
        return await Reflect.apply(write, self, args);
      },
    });
  }
  return copy;
}
