import { expect, it } from 'vitest';
import { createTextCache } from '#server/journal/text-cache.ts';

it('holds the texts that were used last, up to its limit', () => {
  const cache = createTextCache(10, 6);
  cache.put('a', 'aaaa');
  cache.put('b', 'bbbb');
  expect(cache.get('a')).toBe('aaaa');
  cache.put('c', 'cc');
  // All three fill the cache exactly; a further one replaces the one that was not used for longest.
  expect(['a', 'b', 'c'].map((hash) => cache.get(hash))).toEqual(['aaaa', 'bbbb', 'cc']);
  cache.put('d', 'd');
  expect(cache.get('a')).toBeUndefined();
  expect(['b', 'c', 'd'].map((hash) => cache.get(hash))).toEqual(['bbbb', 'cc', 'd']);
});

it('counts a text once that is put again', () => {
  const cache = createTextCache(10, 6);
  for (let times = 0; times < 5; times++) cache.put('a', 'aaaa');
  cache.put('b', 'bbbbbb');
  expect([cache.get('a'), cache.get('b')]).toEqual(['aaaa', 'bbbbbb']);
});

it('does not hold a text that is too long, and forgets its older one', () => {
  const cache = createTextCache(10, 6);
  cache.put('a', 'aaaaaa');
  expect(cache.get('a')).toBe('aaaaaa');
  cache.put('a', 'aaaaaaa');
  expect(cache.get('a')).toBeUndefined();
  cache.put('b', 'bbbbbb');
  cache.put('c', 'cccc');
  expect([cache.get('b'), cache.get('c')]).toEqual(['bbbbbb', 'cccc']);
});
