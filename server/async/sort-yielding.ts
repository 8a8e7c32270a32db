import { createTimeSlice } from './yield.ts';

const RUN = 500;

/** Merge sort with cooperative yielding, so that no number of items blocks the event loop. Returns a new array. */
export async function sortYielding<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Promise<Item[]> {
  const slice = createTimeSlice();
  let runs: Item[][] = [];
  for (let start = 0; start < items.length; start += RUN) {
    runs.push(items.slice(start, start + RUN).sort(compare));
    if (slice.due()) await slice.rest();
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];

  async function merge(left: Item[], right: Item[]): Promise<Item[]> {
    const merged: Item[] = [];
    let at = 0;
    for (const item of right) {
      for (let first = left[at]; first !== undefined && compare(first, item) <= 0; first = left[++at])
        merged.push(first);
      merged.push(item);
      if (merged.length % RUN === 0 && slice.due()) await slice.rest();
    }
    for (; at < left.length; at++) merged.push(...left.slice(at, at + 1));
    return merged;
  }
}
