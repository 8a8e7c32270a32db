/** Time as sessions and their agents see it: the machine's, or that of a test, which moves it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls back once after so many milliseconds, be they more than one timer can wait; what it returns calls that off.
   * Keeps no process alive.
   */
  setTimeout(callback: () => void, ms: number): () => void;
}

/** What a timer of the machine can wait for at most. */
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
