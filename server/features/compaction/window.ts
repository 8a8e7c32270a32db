/** When a context has grown too large for its model. Tokens throughout. */
import type { ModelError } from '#server/models/types.ts';

/** What is kept free unless the configuration says how much. */
const LARGEST_RESERVE = 50_000;
const RESERVED_PART = 1 / 4;
/** Of a request that did not fit, this part would have, as far as is known. */
const OBSERVED_PART = 0.85;
/** A request that is too large as a body is one that is too long, from this part of the window on. */
const LONG_BODY_PART = 0.5;

export interface WindowLimits {
  triggerRatio: number;
  /** To be kept free; absent means as much as fits the window. */
  reserved: number | undefined;
}

/** Whether a context of this size is due to be compacted; never where the window is not known (0). */
export function isFull(size: number, window: number, { triggerRatio, reserved }: WindowLimits): boolean {
  if (window <= 0) return false;
  const reserve = reserved ?? Math.min(LARGEST_RESERVE, window * RESERVED_PART);
  return size >= triggerRatio * window || (reserve > 0 && reserve < window && size + reserve >= window);
}

/** Whether a request of this size failed because it is too long for the model. */
export function isOverflow({ facts: { code, statusCode } }: ModelError, size: number, window: number): boolean {
  return code === 'context.overflow' || (statusCode === 413 && size >= LONG_BODY_PART * window);
}

/** Windows of models as their refusals have shown them: smaller than they are said to be. */
export interface ObservedWindows {
  /** Of a model whose declared window is this; 0 is unknown. */
  of(alias: string, declared: number): number;
  /** A request of this size was refused. */
  refused(alias: string, size: number): void;
}

/** Nothing was observed yet. */
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
