/** Token bucket: starts with `burst` tokens and is refilled at a rate up to that number. */
export interface TokenBucketOptions {
  perSecond: number;
  burst: number;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

export interface TokenBucket {
  /** Removes tokens; returns false, and removes none, if there are too few. */
  take(tokens?: number): boolean;
}

export function createTokenBucket({
  perSecond,
  burst,
  now = () => performance.now(),
}: TokenBucketOptions): TokenBucket {
  let tokens = burst;
  let filledAt = now();
  return {
    take(count = 1) {
      const at = now();
      tokens = Math.min(burst, tokens + ((at - filledAt) / 1000) * perSecond);
      filledAt = at;
      if (tokens < count) return false;
      tokens -= count;
      return true;
    },
  };
}
