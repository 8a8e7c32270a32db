/** A clock that advances only when a test moves it. */
import type { Clock } from '#server/clock.ts';

export interface ManualClock extends Clock {
  /** Advances the time; due callbacks run in order, each at its time. */
  advance(ms: number): void;
  /** `now()` reports an earlier time from here on; pending timeouts are not delayed. */
  setBack(ms: number): void;
  /** Milliseconds left of the pending timeouts, soonest first. */
  waits(): number[];
}

/** `start` in ms; default: the machine's time. */
export function manualClock(start = Date.now()): ManualClock {
  let now = start;
  let back = 0;
  const waiting = new Set<{ at: number; callback: () => void }>();
  const inOrder = () => [...waiting].toSorted((a, b) => a.at - b.at);
  return {
    // Whole milliseconds, like the machine's clock; a timeout may be fractional.
    now: () => Math.floor(now - back),
    setTimeout(callback, ms) {
      const entry = { at: now + ms, callback };
      waiting.add(entry);
      return () => waiting.delete(entry);
    },
    advance(ms) {
      const end = now + ms;
      for (let next = inOrder()[0]; next && next.at <= end; next = inOrder()[0]) {
        waiting.delete(next);
        now = next.at;
        next.callback();
      }
      now = end;
    },
    setBack: (ms) => void (back += ms),
    waits: () => inOrder().map(({ at }) => at - now),
  };
}
