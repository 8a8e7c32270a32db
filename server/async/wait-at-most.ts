/**
 * Resolves when the promise settles, or after `ms`. `setImmediate`, so that I/O queued while the event loop was blocked
 * wins over the timeout.
 */
export function waitAtMost(ms: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve), ms);
    const settle = () => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(settle, settle);
  });
}
