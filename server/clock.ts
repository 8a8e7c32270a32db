/** Time source of sessions and their agents: the machine's clock, or a test's, which the test controls. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls back a single time after `ms`, which may exceed the maximum delay of a platform timer. Returns a cancel
   * function. The timer is unreferenced, so it does not keep the process running.
   */
  setTimeout(callback: () => void, ms: number): () => void;
}

/** Maximum delay of a platform timer, in ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(callback, ms) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      const slice = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(() => (left > slice ? wait(left - slice) : callback()), slice).unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};
