/**
 * `work`, for many who ask at once: those who come while it runs share the next run. That one begins after they came, so
 * none of them is told of anything older.
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

  // A run that fails has failed for those who shared it.
  return () => (running ? (next ??= running.then(start, start)) : start());
}
