/** Closes watches cooperatively: closing one is fast, but closing all of a large tree would block the event loop. */
import { createTimeSlice } from '#server/async/yield.ts';
import type { SystemWatch } from './system-watch.ts';

export interface Endings {
  /** Queues the watch for closing. */
  add(watch: SystemWatch): void;
  /** Resolves when all queued watches are closed. */
  done(): Promise<void>;
}

export function createEndings(): Endings {
  let waiting: SystemWatch[] = [];
  let running: Promise<void> | undefined;

  async function endAll(): Promise<void> {
    const slice = createTimeSlice();
    // Collects all watches that the current call adds.
    await slice.rest();
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      for (const watch of taken) {
        watch.close();
        if (slice.due()) await slice.rest();
      }
    }
    running = undefined;
  }

  return {
    add(watch) {
      waiting.push(watch);
      running ??= endAll();
    },
    async done() {
      await running;
    },
  };
}
