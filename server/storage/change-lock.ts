/** Mutual exclusion for read-modify-write changes of a file that the servers of a home share. */
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { acquireLease, type Lease, type LeaseHolder } from './lease.ts';

const MAX_WAIT_MS = 10_000;
const RETRY_MS = 5;

/** An object whose members are functions that write. */
export type WriteFunctions<Writer> = { [Name in keyof Writer]: (...args: never[]) => Promise<unknown> };

export interface ChangeLock<Writer> {
  /**
   * Runs the work while no other server runs any under this lock, and passes it the functions that write. Each of them
   * throws 50003 without writing when this process was suspended and another server owns the lock now, and after the work
   * has settled. Throws 50003 when the lock cannot be acquired. Not reentrant.
   */
  hold<T>(work: (writer: Writer) => Promise<T>): Promise<T>;
}

export interface ChangeLockOptions<Writer> {
  /** The lease's path; its folder must exist. */
  path: string;
  holder: LeaseHolder;
  /** The functions that write the protected files. Services receive them through `hold` only, so no write is unfenced. */
  writer: Writer;
  /** How long to wait for a live owner, in ms. */
  maxWaitMs?: number;
}

/** Creates a lock; the first `hold` touches the disk. */
export function createChangeLock<Writer extends WriteFunctions<Writer>>(
  options: ChangeLockOptions<Writer>,
): ChangeLock<Writer> {
  const { path, holder, writer, maxWaitMs = MAX_WAIT_MS } = options;
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
      // Jitter: servers that wait together must not retry together.
      await delay(RETRY_MS * (1 + Math.random()));
    }
  }

  return {
    async hold(work) {
      const lease = await acquire();
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

/** The same functions, each of which calls `fence` before it writes. */
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
