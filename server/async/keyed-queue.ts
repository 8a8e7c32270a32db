/** Serial queues: work runs in the order of the calls, one at a time, and a failure does not stop the next one. */

export interface SerialQueue {
  /** Runs the work after all work queued earlier has settled. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when all work queued so far has settled. Never rejects. */
  settled(): Promise<void>;
}

/** A serial queue per key; work of different keys runs concurrently. */
export interface KeyedQueue {
  /** Runs the work after all work queued earlier under the same key has settled. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Whether work of the key runs or is queued. */
  isBusy(key: string): boolean;
  /** Resolves when all work queued so far, of any key, has settled. Never rejects. */
  settled(): Promise<void>;
}

/** Creates a keyed queue; a key without work takes no memory. */
export function createKeyedQueue(): KeyedQueue {
  /** The work queued last, by key. */
  const last = new Map<string, Promise<unknown>>();

  return {
    run(key, work) {
      const mine = (last.get(key) ?? Promise.resolve()).then(work, work);
      last.set(key, mine);
      const forget = () => {
        // Later work of the key may be queued.
        if (last.get(key) === mine) last.delete(key);
      };
      mine.then(forget, forget);
      return mine;
    },
    isBusy: (key) => last.has(key),
    async settled() {
      await Promise.allSettled(last.values());
    },
  };
}

/** Creates a serial queue without keys. */
export function createSerialQueue(): SerialQueue {
  const queue = createKeyedQueue();
  return { run: (work) => queue.run('', work), settled: queue.settled };
}
