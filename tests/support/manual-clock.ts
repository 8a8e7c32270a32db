/** A clock that stands still until a test moves it. */
import type { Clock } from '#server/clock.ts';

export interface ManualClock extends Clock {
  /** Moves time on; what falls due on the way is called in its order, at its time. */
  advance(ms: number): void;
  /** Shows an earlier time from here on; what waits is not delayed by it. */
  setBack(ms: number): void;
  /** Milliseconds left of the waits under way, soonest first. */
  waits(): number[];
}

/** `start` in ms; the machine's time unless given. */
export function manualClock(start = Date.now()): ManualClock {
  let now = start;
  let back = 0;
  const waiting = new Set<{ at: number; callback: () => void }>();
  const inOrder = () => [...waiting].toSorted((a, b) => a.at - b.at);
  return {
    // Whole, as the machine's is, though a wait need not be.
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
