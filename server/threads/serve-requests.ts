/** The thread's side of `thread.ts`, for programs of worker threads. It imports no `zod`, which takes long to load. */
import { parentPort, type Transferable } from 'node:worker_threads';

export interface RequestHandlers<Request> {
  /** Answers a request; the signal aborts when the caller gives up. */
  answer(request: Request, signal: AbortSignal): unknown;
  /** Receives a message that needs no answer. */
  receive?(message: unknown): void;
  /** Ends all work; the thread ends when nothing is left to do. */
  close?(): void;
}

interface Incoming<Request> {
  id?: number;
  request: Request;
  abort?: number;
  message?: unknown;
  close?: true;
}

/**
 * Answers the requests of the main thread until it asks the program to end. A request whose `answer` returns no promise
 * is finished before the next one begins.
 */
export function serveRequests<Request>({ answer, receive, close }: RequestHandlers<Request>): void {
  const port = parentPort;
  if (!port) throw new Error('this program runs in a worker thread');
  const running = new Map<number, AbortController>();

  async function serve(id: number, request: Request): Promise<void> {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const value = await answer(request, controller.signal);
      port?.postMessage({ answerTo: id, value });
    } catch (error) {
      port?.postMessage({ answerTo: id, error: plainError(error) });
    } finally {
      running.delete(id);
    }
  }

  port.on('message', ({ id, request, abort, message, close: ends }: Incoming<Request>) => {
    if (id !== undefined) void serve(id, request);
    else if (abort !== undefined) running.get(abort)?.abort(new Error('aborted'));
    else if (ends) {
      close?.();
      port.close();
    } else receive?.(message);
  });
}

/** The members of an error that the main thread restores: of its own errors, and of the system's. */
function plainError(error: unknown) {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message } = error;
  return {
    name,
    message,
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...('details' in error && { details: error.details }),
  };
}

/** Sends a message to the main thread that is no answer. */
export const sendMessage = (message: unknown, transfer?: Transferable[]): void =>
  parentPort?.postMessage(message, transfer);
