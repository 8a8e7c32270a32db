import { expect, it } from 'vitest';
import { iso } from '#schema/scalars.ts';

it('equals Date.toISOString for any order of times', () => {
  const second = Date.UTC(2026, 10, 22, 17, 32, 16);
  const times = [
    second,
    second + 7,
    second + 999,
    second + 1000,
    second + 12,
    second - 1,
    0,
    -1,
    -1000,
    8.64e15,
    second,
  ];
  expect(times.map(iso)).toEqual(times.map((ms) => new Date(ms).toISOString()));
  expect(() => iso(Number.NaN)).toThrow(RangeError);
});
