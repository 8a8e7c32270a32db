/**
 * Coalesces concurrent calls: at most one run at a time; calls made during a run share the next one. That run starts
 * after those calls, so none of them receives a stale result.
 */
export function createSharedRun<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  function start(): Promise<T> {
    next = undefined;
    const run = work().finally(() => {
      if (running === run) running = undefined;
    });
    running = run;
    return run;
  }

  // A failed run rejects for all callers that share it; the next run starts nevertheless.
  return () => (running ? (next ??= running.then(start, start)) : start());
}
