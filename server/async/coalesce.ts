/**
 * Coalesces concurrent calls: at most one run at a time; calls made during a run share the next one. That run starts
 * after those calls, so none of them receives a stale result.
 */
export function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
  const runs = createCoalescer<T>();
  return () => runs.run('', work);
}

export interface Coalescer<T> {
  /** Runs the work, coalesced with the other calls of the key: a shared run is the work of its first caller. */
  run(key: string, work: () => Promise<T>): Promise<T>;
  /** The waiting run of the key, else the current one. */
  latest(key: string): Promise<T> | undefined;
}

/** The same for each key; runs of different keys are concurrent. */
export function createCoalescer<T>(): Coalescer<T> {
  const running = new Map<string, Promise<T>>();
  const next = new Map<string, Promise<T>>();

  function start(key: string, work: () => Promise<T>): Promise<T> {
    // Settles after the entry is removed: a call that finds none cannot overlap with this run.
    const run = work().finally(() => running.delete(key));
    running.set(key, run);
    return run;
  }

  return {
    run(key, work) {
      const shared = next.get(key);
      if (shared) return shared;
      const current = running.get(key);
      if (!current) return start(key, work);
      // A failed run rejects for all callers that share it; the next run starts nevertheless.
      const startNext = () => {
        next.delete(key);
        return start(key, work);
      };
      const waiting = current.then(startNext, startNext);
      next.set(key, waiting);
      return waiting;
    },
    latest: (key) => next.get(key) ?? running.get(key),
  };
}
