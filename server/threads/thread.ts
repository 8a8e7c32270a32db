/** One worker thread with a program that answers requests (`serve-requests.ts`). */
import { Worker, type ResourceLimits } from 'node:worker_threads';
import { z } from 'zod';
import { ServiceError } from '#server/errors/service-error.ts';
import { isErrorName } from '#server/errors/catalogue.ts';

/** Requests that wait for an answer; a further one is refused. */
const MAX_WAITING = 64;

export interface Thread {
  /**
   * Sends a request, starting the thread if it does not run. Rejects with the error of the program, with
   * `internal.error` if the thread ends before its answer or too many requests wait, and with the signal's reason.
   */
  ask(request: unknown, signal?: AbortSignal): Promise<unknown>;
  /** Sends a message without an answer to a thread that runs; returns false if none does. */
  tell(message: unknown): boolean;
  /** Asks the program to end, and resolves when the thread has ended. Later requests are refused. */
  close(): Promise<void>;
}

export interface ThreadOptions {
  /** For error messages. */
  name: string;
  /** The text of the program. */
  program: string;
  /** Called before each start of the thread. */
  workerData: () => unknown;
  resourceLimits?: ResourceLimits;
  /** Receives messages that are no answers. */
  onMessage?: (message: unknown) => void;
  /** Called when the thread has ended, unless `close` ended it. */
  onDeath?: (error: Error) => void;
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

const answerSchema = z.object({
  answerTo: z.int(),
  value: z.unknown().optional(),
  error: z
    .object({
      name: z.string(),
      message: z.string(),
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    })
    .optional(),
});

/** Creates a thread, which the first request starts. One that dies is started again by the next request. */
export function createThread(options: ThreadOptions): Thread {
  const { name, program, workerData, resourceLimits, onMessage, onDeath } = options;
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let ended: Promise<void> | undefined;
  let closed = false;
  let lastId = 0;

  function receive(message: unknown): void {
    const answer = answerSchema.safeParse(message);
    if (!answer.success) return onMessage?.(message);
    const { answerTo, value, error } = answer.data;
    const asked = waiting.get(answerTo);
    waiting.delete(answerTo);
    if (error) asked?.reject(errorOf(error));
    else asked?.resolve(value);
  }

  function died(error: Error): void {
    worker = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    if (!closed) onDeath?.(error);
  }

  function start(): Worker {
    const started = new Worker(program, {
      eval: true,
      workerData: workerData(),
      env: {},
      ...(resourceLimits && { resourceLimits }),
    });
    let cause: unknown;
    started.on('message', receive);
    started.on('error', (error) => (cause = error));
    ended = new Promise((resolve) => {
      started.once('exit', () => {
        died(new ServiceError('internal.error', `the ${name} thread ended`, { cause }));
        resolve();
      });
    });
    // A running server is kept alive by its sockets.
    started.unref();
    return started;
  }

  return {
    ask(request, signal) {
      if (closed) return Promise.reject(new ServiceError('internal.error', `the ${name} thread is closed`));
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (waiting.size >= MAX_WAITING) {
        return Promise.reject(new ServiceError('internal.error', `too many requests wait for the ${name} thread`));
      }
      worker ??= start();
      const current = worker;
      const id = (lastId += 1);
      return new Promise((resolve, reject) => {
        const abort = () => {
          current.postMessage({ abort: id });
          settle(() => reject(signal?.reason));
        };
        const settle = (end: () => void) => {
          waiting.delete(id);
          signal?.removeEventListener('abort', abort);
          end();
        };
        waiting.set(id, {
          resolve: (answer) => settle(() => resolve(answer)),
          reject: (error) => settle(() => reject(error)),
        });
        signal?.addEventListener('abort', abort);
        current.postMessage({ id, request });
      });
    },
    tell(message) {
      worker?.postMessage({ message });
      return worker !== undefined;
    },
    async close() {
      closed = true;
      worker?.postMessage({ close: true });
      await ended;
    },
  };
}

type AnsweredError = NonNullable<z.infer<typeof answerSchema>['error']>;

const errorOf = ({ name, message, details }: AnsweredError) =>
  isErrorName(name) ? new ServiceError(name, message, details ? { details } : {}) : new Error(message);
