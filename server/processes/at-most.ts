/**
 * Settles with the promise, at the latest after the time given. A loop that was held up takes in what has come meanwhile
 * before that time counts as over.
 */
export function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve), ms);
    const settle = () => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(settle, settle);
  });
}
