/**
 * A thread that matches an expression against lines. A JavaScript expression may run forever (backtracking), and only
 * terminating its thread stops it.
 */
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { TimedOut } from './search.ts';

/** Source of the worker, inline because the built server is one bundle. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
parentPort.on('message', (lines) => parentPort.postMessage(lines.map((line) => line.search(workerData))));
`;

const answerSchema = z.array(z.int());

export interface MatchingThread {
  /** Returns the index of the first match in each line, -1 without one. Throws `TimedOut` and the signal's reason. */
  search(lines: readonly string[]): Promise<number[]>;
  close(): Promise<void>;
}

export function startMatchingThread(
  expression: RegExp,
  { until, signal }: { until: number; signal: AbortSignal },
): MatchingThread {
  const worker = new Worker(PROGRAM, { eval: true, workerData: expression });
  // Without a listener an error would crash the process; the pending `search` rejects with it.
  worker.on('error', () => undefined);

  return {
    search: (lines) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => settle(() => reject(new TimedOut())), Math.max(0, until - performance.now()));
        const onMessage = (answer: unknown) => settle(() => resolve(answerSchema.parse(answer)));
        const onError = (error: unknown) => settle(() => reject(error));
        const onAbort = () => settle(() => reject(signal.reason));
        function settle(end: () => void): void {
          clearTimeout(timer);
          worker.off('message', onMessage).off('error', onError);
          signal.removeEventListener('abort', onAbort);
          try {
            end();
          } catch (error) {
            reject(error);
          }
        }
        worker.once('message', onMessage).once('error', onError);
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        else worker.postMessage(lines);
      }),
    async close() {
      await worker.terminate();
    },
  };
}
