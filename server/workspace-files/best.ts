/** Bounded selection: keeps the first items in an order, from any number of added items. */

/** Items in excess of `limit` that are buffered before the next sort. */
const SLACK = 1024;

export interface Best<Item> {
  add(item: Item): void;
  /** In order. */
  items(): Item[];
  /** The number of added items. */
  readonly seen: number;
}

/** Keeps `limit` items; other items cost about one comparison each. */
export function createBest<Item>(limit: number, compare: (a: Item, b: Item) => number): Best<Item> {
  let kept: Item[] = [];
  /** The last of a full selection: items at or after it are rejected. */
  let worst: Item | undefined;
  let seen = 0;
  const settle = () => {
    kept = kept.sort(compare).slice(0, limit);
    worst = kept.length === limit ? kept.at(-1) : undefined;
  };
  return {
    add(item) {
      seen++;
      if (worst !== undefined && compare(item, worst) >= 0) return;
      kept.push(item);
      if (kept.length >= limit + SLACK) settle();
    },
    items() {
      settle();
      return kept;
    },
    get seen() {
      return seen;
    },
  };
}
