/** Work that takes much memory or many files: only so much of it at a time, the rest waits in its order. */

export interface Slots {
  /** Runs the work once there is room for it; the work must not wait for another slot. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(limit: number): Slots {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    async run(work) {
      if (running < limit) running += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The slot goes from hand to hand, so that nobody overtakes.
        const next = waiting.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
