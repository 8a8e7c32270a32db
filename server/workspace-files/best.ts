/** The first items of an order, out of any number that come one by one. */

/** Beyond the wanted ones, before they are put in order again. */
const SLACK = 1024;

export interface Best<Item> {
  add(item: Item): void;
  /** In order. */
  items(): Item[];
  /** How many were added. */
  readonly seen: number;
}

/** Keeps `limit` items and takes a time that hardly grows with the rest. */
export function createBest<Item>(limit: number, compare: (a: Item, b: Item) => number): Best<Item> {
  let kept: Item[] = [];
  /** No item behind it can be among the best. */
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
