/**
 * The thread that reads directories. A directory on a hanging mount blocks it: the thread is then abandoned, and another
 * one continues with the other requests.
 */
import * as z from 'zod';
import { createSemaphore } from '#server/async/semaphore.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { isInside } from '#server/files/paths.ts';
import { createThread, ThreadError, ThreadTimeoutError, type ThreadOptions } from '#server/threads/thread.ts';
import type { DirectoryRequest } from './directory-messages.ts';

/** Timeout of one request to the thread. */
const DIRECTORY_TIMEOUT_MS = 10_000;
/** Requests in the thread; the others wait. */
const MAX_REQUESTS = 32;

const progressSchema = z.instanceof(Int32Array);

/** The file system does not answer (`internal.error`). */
export class UnresponsiveError extends ServiceError {
  constructor(what: string) {
    super('internal.error', `the file system does not answer: ${what}`);
  }
}

/**
 * Rejects with `UnresponsiveError` when a file system call in another thread does not settle within 10 s. `discard`
 * receives a later result.
 */
export async function inTime<T>(call: Promise<T>, discard: (late: T) => unknown = () => undefined): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const hung = () => reject(new UnresponsiveError(`${DIRECTORY_TIMEOUT_MS / 1000} s have passed`));
    timer = setTimeout(() => setImmediate(hung), DIRECTORY_TIMEOUT_MS);
  });
  try {
    return await Promise.race([call, timeout]);
  } catch (error) {
    if (error instanceof UnresponsiveError) call.then(discard, () => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

export interface DirectoryThread {
  /**
   * Resolves to the thread's answer. `directories` are the real paths of those that are read, in order. Rejects with the
   * system's error, when the thread ends, and with `UnresponsiveError`: after 10 s, when a thread hangs in the same
   * directory or a parent, and while four threads hang.
   */
  request(request: DirectoryRequest, directories: readonly string[]): Promise<unknown>;
}

/** Creates a thread that starts with the first request; `program` imports `directory-program.ts`. */
export function createDirectoryThread(
  program: ThreadOptions['program'],
  timeoutMs = DIRECTORY_TIMEOUT_MS,
): DirectoryThread {
  /** Directories in which abandoned threads hang, one for each thread. */
  const hung = new Set<{ path: string }>();
  const thread = createThread({
    name: 'directory',
    program,
    canHang: true,
    // Shared with the thread: index of the directory of the current request that it is reading.
    workerData: () => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  });
  const requests = createSemaphore(MAX_REQUESTS);

  async function send(request: DirectoryRequest, directories: readonly string[]): Promise<unknown> {
    const isHung = (directory: string) => [...hung].some(({ path }) => isInside(directory, path));
    if (directories.some(isHung)) throw new UnresponsiveError('an earlier request still waits for this directory');
    try {
      return await thread.request(request, { timeoutMs });
    } catch (error) {
      if (error instanceof ThreadTimeoutError) {
        const [at = 0] = progressSchema.parse(error.workerData);
        const directory = { path: directories[at] ?? '/' };
        hung.add(directory);
        void error.threadEnded.then(() => hung.delete(directory));
        throw new UnresponsiveError(`${timeoutMs / 1000} s have passed`);
      }
      if (!(error instanceof ThreadError)) throw error;
      if (error.reason === 'refused') throw new UnresponsiveError(`${hung.size} directories hang`);
      if (error.reason === 'replaced') return send(request, directories);
      throw error;
    }
  }

  return { request: (request, directories) => requests.run(() => send(request, directories)) };
}
