import * as z from 'zod';

/** Default limit for lists of names, rules and similar items. */
export const LIST_MAX = 1_000;

/** Array sent by a client, of at most `max` items; zod checks the length before it checks any item. */
export function clientArray<Item extends z.ZodType>(item: Item, { min = 0, max = LIST_MAX } = {}) {
  const items = z.array(item).max(max);
  return min > 0 ? items.min(min) : items;
}
