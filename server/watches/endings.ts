/** Ending many watches: each is quick, all of a large tree at once would hold everything up. */
import { createPace } from '#server/breathe.ts';
import type { SystemWatch } from './system-watch.ts';

export interface Endings {
  /** Ends the watch soon. */
  add(watch: SystemWatch): void;
  /** Resolves when all that were added have ended. */
  done(): Promise<void>;
}

export function createEndings(): Endings {
  let waiting: SystemWatch[] = [];
  let running: Promise<void> | undefined;

  async function endAll(): Promise<void> {
    const pace = createPace();
    // What was added in one go is taken in one go.
    await pace.rest();
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      for (const watch of taken) {
        watch.close();
        if (pace.due()) await pace.rest();
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
