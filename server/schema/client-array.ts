import { z } from 'zod';

/** Items of a list of names, rules or the like. */
export const LIST_MAX = 1_000;

/**
 * An array that a client sends, of at most `max` items. The length is looked at first: to check a million items would
 * take long, and to report each of them longer.
 */
export function clientArray<Item extends z.ZodType>(item: Item, { min = 0, max = LIST_MAX } = {}) {
  const items = z.array(item).max(max);
  return z.preprocess(
    (value, context) => {
      if (!Array.isArray(value) || value.length <= max) return value;
      context.addIssue({ code: 'too_big', origin: 'array', maximum: max, inclusive: true, input: value });
      return z.NEVER;
    },
    min > 0 ? items.min(min) : items,
  );
}
