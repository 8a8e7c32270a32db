import { z } from 'zod';

/** Items of a list of names, rules or the like. */
export const LIST_MAX = 1_000;

/** An array that a client sends, of at most `max` items; zod looks at the length before it looks at an item. */
export function clientArray<Item extends z.ZodType>(item: Item, { min = 0, max = LIST_MAX } = {}) {
  const items = z.array(item).max(max);
  return min > 0 ? items.min(min) : items;
}
