/** Time-out for asynchronous work. */
import { abortable } from '#server/async/abortable.ts';
import type { Clock } from '#server/clock.ts';
import { WebFailure } from './failure.ts';

/**
 * Passes `work` a signal that also aborts after `ms`, and stops waiting for it then. Throws `WebFailure`, and the
 * reason of `signal` when that is aborted.
 */
export async function within<T>(
  ms: number,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const stop = clock.setTimeout(() => limit.abort(new WebFailure(`timed out after ${ms / 1000} s`)), ms);
  const either = AbortSignal.any([signal, limit.signal]);
  try {
    either.throwIfAborted();
    return await abortable(work(either), either);
  } finally {
    stop();
  }
}
