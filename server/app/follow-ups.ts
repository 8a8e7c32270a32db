/** Work that runs after the reply of the request that caused it; the close of the app waits for it. */
import type { Logger } from '#server/logging/log.ts';

export type FollowUp = () => unknown;

export interface FollowUps {
  /** Runs `work` after `replied`, which never rejects. An error is logged. */
  run(replied: Promise<void>, work: FollowUp): void;
  /** Waits for the work that was passed to `run`. */
  close(): Promise<void>;
}

export function createFollowUps(log: Logger): FollowUps {
  const running = new Set<Promise<void>>();

  async function runAfter(replied: Promise<void>, work: FollowUp): Promise<void> {
    await replied;
    try {
      await work();
    } catch (error) {
      log.error('the work after a reply failed', { err: error });
    }
  }

  return {
    run(replied, work) {
      const run = runAfter(replied, work).finally(() => running.delete(run));
      running.add(run);
    },
    async close() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
