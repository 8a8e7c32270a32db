/** Decides whether a context is too large for its model. All sizes are in tokens. */
import type { ModelError } from '#server/models/types.ts';

/** Default of the reserved part of the window: `RESERVED_PART`, at most `LARGEST_RESERVE`. */
const LARGEST_RESERVE = 50_000;
const RESERVED_PART = 1 / 4;
/** Fraction of the size of a refused request that is assumed to fit. */
const OBSERVED_PART = 0.85;
/**
 * A request that is refused as too large (status 413) is treated as too long if it fills this fraction of the window.
 */
const LONG_BODY_PART = 0.5;

export interface WindowLimits {
  triggerRatio: number;
  /** Tokens to reserve; undefined: the default for the window. */
  reserved: number | undefined;
}

/** Whether a context of this size is due for compaction; never if the window is unknown (0). */
export function isFull(size: number, window: number, { triggerRatio, reserved }: WindowLimits): boolean {
  if (window <= 0) return false;
  const reserve = reserved ?? Math.min(LARGEST_RESERVE, window * RESERVED_PART);
  return size >= triggerRatio * window || (reserve > 0 && reserve < window && size + reserve >= window);
}

/** Whether a request of this size failed because it is too long for the model. */
export function isOverflow({ details: { code, statusCode } }: ModelError, size: number, window: number): boolean {
  return code === 'context.overflow' || (statusCode === 413 && size >= LONG_BODY_PART * window);
}

/** Windows of models as observed from refused requests: smaller than declared. */
export interface ObservedWindows {
  /** Returns the window of a model with this declared window; 0 is unknown. */
  of(alias: string, declared: number): number;
  /** Records that a request of this size was refused. */
  refused(alias: string, size: number): void;
}

/** Creates it without observations. */
export function createObservedWindows(): ObservedWindows {
  const observed = new Map<string, number>();
  return {
    of(alias, declared) {
      const seen = observed.get(alias);
      if (seen === undefined) return declared;
      return declared > 0 ? Math.min(declared, seen) : seen;
    },
    refused(alias, size) {
      observed.set(alias, Math.min(observed.get(alias) ?? Infinity, Math.floor(size * OBSERVED_PART)));
    },
  };
}
