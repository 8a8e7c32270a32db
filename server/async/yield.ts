/** Cooperative yielding: splits long synchronous work so that the event loop can serve other requests. */
import { setImmediate } from 'node:timers/promises';

/** Yields to the event loop for one turn, in which pending I/O is handled. */
export const yieldToLoop = (): Promise<void> => setImmediate();

/** Time slice: maximum time in ms for which work may block the event loop before it yields. */
const SLICE_MS = 8;

export interface TimeSlice {
  /** True if the time slice is used up. */
  due(): boolean;
  rest(): Promise<void>;
}

/** Yields only when the time slice (8 ms) is used up, for chunks too small to yield after each. */
export function createTimeSlice(): TimeSlice {
  let started = performance.now();
  return {
    due: () => performance.now() - started >= SLICE_MS,
    async rest() {
      await yieldToLoop();
      started = performance.now();
    },
  };
}
