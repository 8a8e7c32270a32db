/** Long work in pieces: other requests get their turn between them. */
import { setImmediate } from 'node:timers/promises';

/** Lets everything else that waits run once. */
export const breathe = (): Promise<void> => setImmediate();

/** How long work may hold the event loop before it lets others in, in ms. */
const SLICE_MS = 8;

export interface Pace {
  /** Whether the slice is used up. */
  due(): boolean;
  rest(): Promise<void>;
}

/** For pieces that are too small to breathe after each. */
export function createPace(): Pace {
  let started = performance.now();
  return {
    due: () => performance.now() - started >= SLICE_MS,
    async rest() {
      await breathe();
      started = performance.now();
    },
  };
}
