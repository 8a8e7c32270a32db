/** Exponential backoff between the attempts of a failed request. */
import type { Clock } from '#server/clock.ts';
import type { ModelError } from '#server/models/types.ts';

export const DEFAULT_MAX_ATTEMPTS = 10;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 32_000;
const JITTER = 0.25;

/** Milliseconds before attempt `failedAttempt + 1`; a delay that the provider requests is used unmodified. */
export function retryDelay(error: ModelError, failedAttempt: number, random: () => number = Math.random): number {
  const asked = error.details.retryAfterMs;
  if (asked !== undefined && asked > 0) return asked;
  const base = Math.min(FIRST_DELAY_MS * 2 ** (failedAttempt - 1), LONGEST_DELAY_MS);
  return base * (1 + JITTER * random());
}

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const cancelTimer = clock.setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    const onAbort = () => {
      cancelTimer();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
