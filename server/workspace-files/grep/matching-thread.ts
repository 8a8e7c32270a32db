/**
 * A thread that matches an expression against lines. A JavaScript expression may run forever (backtracking), and only
 * terminating its thread stops it.
 */
import * as z from 'zod';
import { createThread, ThreadError } from '#server/threads/thread.ts';
import { TimedOut } from './search.ts';

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
  const thread = createThread({
    name: 'matching',
    program: () => import('./matching-program.ts?thread'),
    workerData: () => expression,
  });
  return {
    async search(lines) {
      const timeoutMs = Math.max(0, until - performance.now());
      try {
        return answerSchema.parse(await thread.request(lines, { signal, timeoutMs }));
      } catch (error) {
        if (error instanceof ThreadError && error.reason === 'timeout') throw new TimedOut();
        throw error;
      }
    },
    close: thread.terminate,
  };
}
