/** One worker thread with a program that answers requests (`serve-requests.ts`). */
import { Worker, type ResourceLimits, type Transferable } from 'node:worker_threads';
import * as z from 'zod';
import { ServiceError } from '#server/errors/service-error.ts';
import { isErrorName } from '#server/errors/catalogue.ts';
import { reportThreadCalls } from '#server/processes/process-exit.ts';

/** Requests that wait for an answer; a further one is refused. */
const MAX_WAITING = 64;
/** A thread in a system call that hangs cannot be ended, so the number of abandoned threads is limited. */
const MAX_ABANDONED = 4;

/**
 * Why a thread did not answer (`internal.error`): `timeout`, the request took too long; `replaced`, an earlier request
 * did, and this one can be sent again; `ended`, the thread has ended; `refused`, the request was not sent.
 */
export class ThreadError extends ServiceError {
  constructor(
    readonly reason: 'timeout' | 'replaced' | 'ended' | 'refused',
    message: string,
    cause?: unknown,
  ) {
    super('internal.error', message, { cause });
  }
}

/** The request took too long, and its thread was abandoned. */
export class ThreadTimeoutError extends ThreadError {
  constructor(
    message: string,
    /** Resolves when the abandoned thread has ended. */
    readonly threadEnded: Promise<void>,
    /** The data with which it was started. */
    readonly workerData: unknown,
  ) {
    super('timeout', message);
  }
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /**
   * For programs that answer in order. The time-out starts when all earlier requests are answered. A thread that takes
   * longer is abandoned: it ends when it can, and the next request starts another one.
   */
  timeoutMs?: number;
  transfer?: Transferable[];
}

export interface Thread {
  /**
   * Sends a request, starting the thread if it does not run. Rejects with the error of the program, with `ThreadError`,
   * and with the signal's reason.
   */
  request(request: unknown, options?: RequestOptions): Promise<unknown>;
  /** Sends a message without an answer to a thread that runs or is being started; returns false if none does. */
  send(message: unknown): boolean;
  /** Ends the thread in the middle of its work; the next request starts another one. Never in a call into SQLite. */
  terminate(): Promise<void>;
  /** Asks the program to end, and resolves when the thread has ended. Later requests are refused. */
  close(): Promise<void>;
}

export interface ThreadOptions {
  /** For error messages. */
  name: string;
  /** Imports the text of the program, before the first start. */
  program(): Promise<{ default: string }>;
  /** Called before each start of the thread. */
  workerData?: () => unknown;
  resourceLimits?: ResourceLimits;
  /** Whether its system calls can hang, e.g. on a mount: the process exits without waiting for them. */
  canHang?: boolean;
  /** Receives messages that are no answers. */
  onMessage?: (message: unknown) => void;
  /** Called when the thread has ended of its own accord. */
  onDeath?: (error: Error) => void;
}

interface Waiting {
  id: number;
  timeoutMs: number | undefined;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

interface Running {
  worker: Worker;
  workerData: unknown;
  /** Requests without an answer, in the order in which they were sent. */
  waiting: Map<number, Waiting>;
  /** The first of them, which the program works on. */
  first?: Waiting | undefined;
  timer?: NodeJS.Timeout | undefined;
  ended: Promise<void>;
}

const answerSchema = z.object({
  answerTo: z.int(),
  value: z.unknown().optional(),
  error: z
    .object({
      name: z.string(),
      message: z.string(),
      code: z.string().optional(),
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    })
    .optional(),
});

/** Creates a thread, which the first request starts. One that dies is started again by the next request. */
export function createThread(options: ThreadOptions): Thread {
  const { name, program, workerData, resourceLimits, canHang = false, onMessage, onDeath } = options;
  let text: string | undefined;
  let loading: Promise<string> | undefined;
  let running: Running | undefined;
  const abandoned = new Set<Worker>();
  let closed = false;
  let terminations = 0;
  let lastId = 0;

  async function load(): Promise<string> {
    try {
      ({ default: text } = await program());
      return text;
    } finally {
      loading = undefined;
    }
  }

  function start(code: string): Running {
    const data = workerData?.();
    const worker = new Worker(code, {
      eval: true,
      workerData: data,
      env: {},
      ...(resourceLimits && { resourceLimits }),
    });
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    const started: Running = { worker, workerData: data, waiting: new Map(), ended };
    const forget = canHang ? reportThreadCalls(() => (started.first ? [started.first] : [])) : undefined;
    let cause: unknown;
    worker.on('message', (message: unknown) => receive(started, message));
    worker.on('error', (error) => (cause = error));
    worker.once('exit', () => {
      forget?.();
      abandoned.delete(worker);
      const error = new ThreadError('ended', `the ${name} thread ended`, cause);
      rejectAll(started, error);
      if (running === started) {
        running = undefined;
        if (!closed) onDeath?.(error);
      }
    });
    // A running server is kept alive by its sockets.
    worker.unref();
    return started;
  }

  function receive(thread: Running, message: unknown): void {
    const answer = answerSchema.safeParse(message);
    if (!answer.success) return onMessage?.(message);
    const { answerTo, value, error } = answer.data;
    const answered = thread.waiting.get(answerTo);
    if (error) answered?.reject(errorOf(error));
    else answered?.resolve(value);
  }

  function rejectAll(thread: Running, error: Error): void {
    for (const { reject } of thread.waiting.values()) reject(error);
  }

  /** Starts the time-out of the first request, unless it has started. */
  function watchFirst(thread: Running): void {
    const [first] = thread.waiting.values();
    if (first === thread.first || abandoned.has(thread.worker)) return;
    clearTimeout(thread.timer);
    thread.first = first;
    if (first?.timeoutMs === undefined) return;
    thread.timer = setTimeout(() => {
      // If the event loop was blocked, an answer that has arrived is handled first.
      setImmediate(() => {
        if (thread.waiting.has(first.id)) abandon(thread, first);
      });
    }, first.timeoutMs).unref();
  }

  function abandon(thread: Running, hung: Waiting): void {
    abandoned.add(thread.worker);
    running = undefined;
    const message = `the ${name} thread has not answered for ${hung.timeoutMs} ms`;
    hung.reject(new ThreadTimeoutError(message, thread.ended, thread.workerData));
    rejectAll(thread, new ThreadError('replaced', `the ${name} thread was abandoned`));
    // A thread in a system call ends when the call returns.
    void thread.worker.terminate();
  }

  const ended = () => new ThreadError('ended', `the ${name} thread was ended`);
  const refused = (why: string) => new ThreadError('refused', why);

  return {
    async request(request, { signal, timeoutMs, transfer } = {}) {
      const before = terminations;
      const code = text ?? (await (loading ??= load()));
      if (terminations > before) throw ended();
      if (closed) throw refused(`the ${name} thread is closed`);
      signal?.throwIfAborted();
      if (!running && abandoned.size >= MAX_ABANDONED) throw refused(`${MAX_ABANDONED} ${name} threads hang`);
      const thread = (running ??= start(code));
      const { worker, waiting } = thread;
      if (waiting.size >= MAX_WAITING) throw refused(`too many requests wait for the ${name} thread`);
      const id = (lastId += 1);
      // Throws for values that cannot be sent.
      worker.postMessage({ id, request }, transfer);
      return new Promise((resolve, reject) => {
        const abort = () => {
          worker.postMessage({ abort: id });
          settle(() => reject(signal?.reason));
        };
        const settle = (end: () => void) => {
          waiting.delete(id);
          signal?.removeEventListener('abort', abort);
          watchFirst(thread);
          end();
        };
        waiting.set(id, {
          id,
          timeoutMs,
          resolve: (answer) => settle(() => resolve(answer)),
          reject: (error) => settle(() => reject(error)),
        });
        signal?.addEventListener('abort', abort);
        watchFirst(thread);
      });
    },
    send(message) {
      const post = () => running?.worker.postMessage({ message });
      // After the request that starts the thread.
      if (loading) loading.then(post, () => undefined);
      else post();
      return loading !== undefined || running !== undefined;
    },
    async terminate() {
      terminations += 1;
      const ending = running;
      if (!ending) return;
      running = undefined;
      rejectAll(ending, ended());
      await ending.worker.terminate();
    },
    async close() {
      closed = true;
      running?.worker.postMessage({ close: true });
      await running?.ended;
    },
  };
}

type AnsweredError = NonNullable<z.infer<typeof answerSchema>['error']>;

function errorOf({ name, message, code, details }: AnsweredError): Error {
  if (isErrorName(name)) return new ServiceError(name, message, details ? { details } : {});
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
