/** Reproducible random choices for property tests. */

/** Returns numbers from 0 up to 1. */
export type Random = () => number;

/** Mulberry32: the same seed yields the same sequence. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** An integer from 0 up to, but not including, `below`. */
export const integer = (random: Random, below: number): number => Math.floor(random() * below);

/** One of the items, which must not be empty. */
export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[integer(random, items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
