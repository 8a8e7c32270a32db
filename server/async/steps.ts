/** Long synchronous work as a generator that yields where a caller may pause. */
import { createTimeSlice } from './yield.ts';

export type Steps<Result> = Generator<undefined, Result>;

/** Runs the work without a pause, such as in a thread. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs the work in time slices, between which the event loop serves other requests. */
export async function finishWithPauses<Result>(steps: Steps<Result>): Promise<Result> {
  const slice = createTimeSlice();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (slice.due()) await slice.rest();
  }
}
