/**
 * The thread that reads directories. A directory on a hanging mount blocks it: the thread is then abandoned and
 * replaced. A thread in a system call cannot be terminated, so the number of abandoned threads is limited.
 */
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { ServiceError } from '#server/errors/service-error.ts';
import { isInside } from '#server/files/paths.ts';
import { reportThreadCalls } from '#server/processes/process-exit.ts';

/** Timeout of one message to the thread. */
const DIRECTORY_TIMEOUT_MS = 10_000;
const MAX_ABANDONED_THREADS = 4;

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

/** A message to the thread, which replies with `{ value }`, or with the `code` and `message` of the system's error. */
export interface Question {
  kind: string;
}

interface Pending {
  question: Question;
  /** Real paths of the directories to read, in order, to identify one in which a thread hangs. */
  directories: readonly string[];
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Running {
  worker: Worker;
  /** Shared with the thread: index of the directory of the first question that it is reading. */
  progress: Int32Array;
  /** Replies arrive in the order of the questions; the thread works on the first one. */
  pending: Pending[];
  timer: NodeJS.Timeout | undefined;
}

export interface DirectoryThread {
  /**
   * Resolves to the thread's reply. Rejects with the system's error, when the thread exits, and with
   * `UnresponsiveError`: after 10 s, when a thread hangs in the same directory or a parent, and while four threads
   * hang. A question may be sent again to a new thread.
   */
  ask(question: Question, directories: readonly string[]): Promise<unknown>;
}

const answerSchema = z.union([z.object({ code: z.string(), message: z.string() }), z.object({ value: z.unknown() })]);

/**
 * Creates a thread that starts with the first question. `program` is its source; its `workerData` is an `Int32Array` to
 * which it writes the index of the directory that it reads.
 */
export function createDirectoryThread(program: string, timeoutMs = DIRECTORY_TIMEOUT_MS): DirectoryThread {
  let running: Running | undefined;
  /** Hanging threads, each with the directory that it hangs in. */
  const abandoned = new Map<Worker, string>();

  function start(): Running {
    const progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const worker = new Worker(program, { eval: true, workerData: progress });
    worker.unref();
    const started: Running = { worker, progress, pending: [], timer: undefined };
    worker.on('message', (message: unknown) => {
      const answered = started.pending.shift();
      watch(started);
      const answer = answerSchema.parse(message);
      if ('code' in answer) answered?.reject(Object.assign(new Error(answer.message), { code: answer.code }));
      else answered?.resolve(answer.value);
    });
    const onEnd = (error: unknown) => {
      abandoned.delete(worker);
      if (running === started) running = undefined;
      for (const { reject } of started.pending.splice(0)) reject(error);
      watch(started);
    };
    worker.on('error', onEnd).on('exit', () => onEnd(new Error('the thread has ended')));
    return started;
  }

  /** Starts the timeout of the first question. */
  function watch(thread: Running): void {
    clearTimeout(thread.timer);
    const [first] = thread.pending;
    if (!first) return;
    thread.timer = setTimeout(() => {
      // If the event loop was blocked, the reply is handled first.
      setImmediate(() => {
        if (thread.pending[0] === first) abandon(thread, first);
      });
    }, timeoutMs).unref();
  }

  function abandon(thread: Running, hung: Pending): void {
    const others = thread.pending.splice(0).slice(1);
    abandoned.set(thread.worker, hung.directories[thread.progress[0] ?? 0] ?? '/');
    if (running === thread) running = undefined;
    // The thread exits when the system call returns.
    void thread.worker.terminate();
    hung.reject(new UnresponsiveError(`${timeoutMs / 1000} s have passed`));
    for (const other of others) send(other);
  }

  function send(asked: Pending): void {
    if (abandoned.size >= MAX_ABANDONED_THREADS) {
      asked.reject(new UnresponsiveError(`${MAX_ABANDONED_THREADS} directories hang`));
      return;
    }
    const isHung = (directory: string) => [...abandoned.values()].some((hung) => isInside(directory, hung));
    if (asked.directories.some(isHung)) {
      asked.reject(new UnresponsiveError('an earlier request still waits for this directory'));
      return;
    }
    running ??= start();
    running.pending.push(asked);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    running.worker.postMessage(asked.question);
    if (running.pending.length === 1) watch(running);
  }

  reportThreadCalls(() => [...abandoned.keys(), ...(running?.pending.slice(0, 1) ?? [])]);

  return {
    ask: (question, directories) =>
      new Promise((resolve, reject) => {
        send({ question, directories, resolve, reject });
      }),
  };
}
