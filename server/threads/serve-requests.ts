/** The thread's side of `thread.ts`, for programs of worker threads. */
import { parentPort } from 'node:worker_threads';
import { ServiceError } from '#server/errors/service-error.ts';

export interface RequestHandlers {
  /** Answers a request; the signal aborts when the caller gives up. */
  answer(request: unknown, signal: AbortSignal): Promise<unknown>;
  /** Receives a message that needs no answer. */
  receive?(message: unknown): void;
  /** Ends all work; the thread ends when nothing is left to do. */
  close?(): void;
}

interface Incoming {
  id?: number;
  request?: unknown;
  abort?: number;
  message?: unknown;
  close?: true;
}

/** Answers the requests of the main thread until it asks the program to end. */
export function serveRequests({ answer, receive, close }: RequestHandlers): void {
  const port = parentPort;
  if (!port) throw new Error('this program runs in a worker thread');
  const running = new Map<number, AbortController>();

  async function serve(id: number, request: unknown): Promise<void> {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const value = await answer(request, controller.signal);
      port?.postMessage({ answerTo: id, value });
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const details = error instanceof ServiceError ? error.details : undefined;
      port?.postMessage({ answerTo: id, error: { name, message, ...(details && { details }) } });
    } finally {
      running.delete(id);
    }
  }

  port.on('message', ({ id, request, abort, message, close: ends }: Incoming) => {
    if (id !== undefined) void serve(id, request);
    else if (abort !== undefined) running.get(abort)?.abort(new Error('aborted'));
    else if (ends) {
      close?.();
      port.close();
    } else receive?.(message);
  });
}

/** Sends a message to the main thread that is no answer. */
export const sendMessage = (message: unknown): void => parentPort?.postMessage(message);
