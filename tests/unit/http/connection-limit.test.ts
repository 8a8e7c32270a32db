import { expect, it } from 'vitest';
import { connectionsAllowed } from '#utils/http/connection-limit.ts';

it.each([
  ['half of many', 4096, 2048],
  ['half, rounded down', 1025, 512],
  ['at most ten thousand', 1_000_000, 10_000],
  ['at most ten thousand where there is no limit', Infinity, 10_000],
  ['what leaves 150 free', 256, 106],
  ['a fifth where 150 cannot stay free', 180, 36],
  ['a fifth of very few', 64, 12],
])('connections are %s: of %d descriptors %d', (_what, descriptors, connections) => {
  expect(connectionsAllowed(descriptors)).toBe(connections);
});
