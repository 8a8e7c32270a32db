import { expect, it } from 'vitest';
import { callKey, canonicalJson, createRepeatGuard } from '#server/agent/calls/repeat-guard.ts';

it('serializes equal values to equal text, regardless of the order of their keys', () => {
  expect(canonicalJson({ b: [{ d: 1, c: null }], a: 'x' })).toBe('{"a":"x","b":[{"c":null,"d":1}]}');
  expect(callKey('Read', { a: 1, b: 2 })).toBe(callKey('Read', { b: 2, a: 1 }));
  expect(callKey('Read', { a: [1, 2] })).not.toBe(callKey('Read', { a: [2, 1] }));
  expect(callKey('Read', { a: 1 })).not.toBe(callKey('Edit', { a: 1 }));
});

it('reminds at 3, more strongly at 5, finally at 8, and stops from 12 on', () => {
  const guard = createRepeatGuard();
  const verdicts = Array.from({ length: 14 }, () => guard.count('k'));
  const kind = (n: number) => verdicts[n - 1]?.reminder?.replace(/\d+/, '');
  expect([kind(1), kind(2)]).toEqual([undefined, undefined]);
  expect(kind(3)).toBe(kind(4));
  expect(kind(5)).toBe(kind(7));
  expect(kind(8)).toBe(kind(14));
  expect(new Set([kind(4), kind(5), kind(8)]).size).toBe(3);
  expect(verdicts.map(({ stopTurn }) => stopTurn).indexOf(true)).toBe(11);
  expect(verdicts.slice(11).every(({ stopTurn }) => stopTurn)).toBe(true);
});

it('restarts the count after another call and in a new turn', () => {
  const guard = createRepeatGuard();
  for (const key of ['a', 'a', 'b', 'a', 'a']) expect(guard.count(key).reminder).toBeUndefined();
  guard.reset();
  expect(guard.count('a').reminder).toBeUndefined();
  guard.count('a');
  expect(guard.count('a').reminder).toBeDefined();
});
