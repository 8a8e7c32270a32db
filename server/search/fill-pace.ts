/** Limits the fill of the index to half of a core. */
import { setTimeout as delay } from 'node:timers/promises';

/** A rest after less work would cost a timer for each session, and timers have a resolution of a millisecond. */
const LEAST_WORK_MS = 10;

/**
 * Called between two parts of the work: rests as long as the work since the last rest took, then waits for `meanwhile`,
 * which is no part of it.
 */
export type FillPace = (meanwhile: () => Promise<void>) => Promise<void>;

/** `now` returns milliseconds, and `sleep` waits for as many; default: those of the machine. */
export function createFillPace(now = () => performance.now(), sleep: (ms: number) => Promise<void> = delay): FillPace {
  let begun = now();
  let worked = 0;
  return async (meanwhile) => {
    worked += now() - begun;
    if (worked >= LEAST_WORK_MS) {
      await sleep(worked);
      worked = 0;
    }
    await meanwhile();
    begun = now();
  };
}
