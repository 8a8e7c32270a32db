/** Work with a time limit. */
import { unlessAborted } from '#server/aborts.ts';
import type { Clock } from '#server/clock.ts';
import { WebFailure } from './failure.ts';

/**
 * Gives the work a signal that also fires after so many ms, and does not wait for it any longer then. Throws
 * `WebFailure`, and the reason of `signal` when that has fired.
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
    return await unlessAborted(work(either), either);
  } finally {
    stop();
  }
}
