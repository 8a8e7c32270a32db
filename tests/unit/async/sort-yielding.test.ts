import { expect, it } from 'vitest';
import { sortYielding } from '#server/async/sort-yielding.ts';
import { createBest } from '#server/workspace-files/best.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => (index * 7919) % 4001);
const byValue = (a: number, b: number) => a - b;

it.each([0, 1, 499, 500, 501, 1500, 5003])('sorts %i items as a plain sort does', async (count) => {
  const items = numbers(count);
  expect(await sortYielding(items, byValue)).toEqual(items.toSorted(byValue));
});

it('is stable', async () => {
  const items = numbers(3000).map((value, place) => ({ key: value % 3, place }));
  const sorted = await sortYielding(items, (a, b) => a.key - b.key);
  expect(sorted).toEqual(items.toSorted((a, b) => a.key - b.key));
});

it.each([1, 10, 1000, 9000])('keeps the best %i of many', (limit) => {
  const items = numbers(5000);
  const best = createBest(limit, byValue);
  for (const item of items) best.add(item);
  expect(best.items()).toEqual(items.toSorted(byValue).slice(0, limit));
  expect(best.seen).toBe(5000);
});
