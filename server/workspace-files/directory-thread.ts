/**
 * The thread that reads directories. One on a mount that hangs blocks it: then the thread is abandoned and replaced. A
 * thread in a system call cannot be ended, so that only so many are abandoned at a time.
 */
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { ServiceError } from '#server/errors/service-error.ts';
import { isInside } from '#server/files/paths.ts';
import { reportThreadCalls } from '#server/processes/process-exit.ts';

/** How long the file system may take for one question. */
const DIRECTORY_TIMEOUT_MS = 10_000;
const MAX_ABANDONED_THREADS = 4;

/** The file system does not answer; 50001 of the request. */
export class UnresponsiveError extends ServiceError {
  constructor(what: string) {
    super('internal.error', `the file system does not answer: ${what}`);
  }
}

/**
 * Rejects with `UnresponsiveError` when a call to the file system, made by another thread, has not been answered for 10 s.
 * `discard` gets what comes later.
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

/** A message to the thread, which answers with `{ value }`, or with the `code` and `message` of the system's error. */
export interface Question {
  kind: string;
}

interface Pending {
  question: Question;
  /** Real paths of the directories that it reads, in its order, to recognize one in which a thread hangs. */
  directories: readonly string[];
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Running {
  worker: Worker;
  /** Index of the directory of the first question that the thread reads now. */
  progress: Int32Array;
  /** Answers come in the order of the questions; the thread works on the first one. */
  pending: Pending[];
  timer: NodeJS.Timeout | undefined;
}

export interface DirectoryThread {
  /**
   * Resolves to the thread's answer. Rejects with the system's error, when the thread ends, and with
   * `UnresponsiveError`: when the question has hung for 10 s, when a thread hangs in the same directory or one above, and
   * while four threads hang. A question may be asked again in a new thread.
   */
  ask(question: Question, directories: readonly string[]): Promise<unknown>;
}

const answerSchema = z.union([z.object({ code: z.string(), message: z.string() }), z.object({ value: z.unknown() })]);

/**
 * `program` is the text of the thread's program; it starts with the first question. Its `workerData` is an `Int32Array` to
 * which it writes the index of the directory that it reads.
 */
export function createDirectoryThread(program: string, timeoutMs = DIRECTORY_TIMEOUT_MS): DirectoryThread {
  let running: Running | undefined;
  /** Threads that hang, each with the directory in which it does. */
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

  /** Waits for the answer to the first question. */
  function watch(thread: Running): void {
    clearTimeout(thread.timer);
    const [first] = thread.pending;
    if (!first) return;
    thread.timer = setTimeout(() => {
      // An event loop that was held up takes in the answer first.
      setImmediate(() => {
        if (thread.pending[0] === first) abandon(thread, first);
      });
    }, timeoutMs).unref();
  }

  function abandon(thread: Running, hung: Pending): void {
    const others = thread.pending.splice(0).slice(1);
    abandoned.set(thread.worker, hung.directories[thread.progress[0] ?? 0] ?? '/');
    if (running === thread) running = undefined;
    // It ends when the system call returns.
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
