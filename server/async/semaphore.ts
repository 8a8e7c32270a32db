/** FIFO concurrency limiter (semaphore) for work that needs much memory or many files. */

export interface Semaphore {
  /** Runs the work when a permit is free; the work must not wait for another permit, which could deadlock. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSemaphore(limit: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    async run(work) {
      if (running < limit) running += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The permit is transferred directly to the next waiter, which guarantees FIFO order.
        const next = waiting.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
