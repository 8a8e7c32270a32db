/** Long work in small pieces, so that nothing else waits for it. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest work before others get their turn. */
const SLICE_MS = 8;

export interface Slices {
  /** Whether it is time to wait for `next`. */
  over(): boolean;
  /** Resolves when others had their turn. */
  next(): Promise<void>;
}

export function createSlices(): Slices {
  let end = performance.now() + SLICE_MS;
  return {
    over: () => performance.now() >= end,
    async next() {
      await nextTurn();
      end = performance.now() + SLICE_MS;
    },
  };
}
