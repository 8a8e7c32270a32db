/** The path dialect is picomatch's without extended globs: the same results, in bounded time. */
import picomatch from 'picomatch';
import { expect, test } from 'vitest';
import { fileGlob, pathGlob } from '#server/files/globs.ts';

/** Random numbers with a fixed seed, so that a failure is reproducible. */
function generator(seed: number) {
  let state = seed;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item => items[next(items.length)] ?? items[0];
  return { next, pick };
}

test('random patterns on random paths', () => {
  const { next, pick } = generator(20_26);
  const piece = () => pick(['a', 'b', 'A', '.x', '*', '?', '[ab]', '[^a]', '{a,b}', '{a,*b}', '-', '$', '\\*']);
  const patternSegment = () =>
    next(4) === 0
      ? '**'
      : Array.from({ length: 1 + next(3) }, piece)
          .join('')
          .replace(/\*\*+/g, '*');
  const name = () => Array.from({ length: 1 + next(3) }, () => pick(['a', 'b', 'A', 'x', '.', '*', '-', '$'])).join('');
  const names = () => Array.from({ length: 1 + next(4) }, name).filter((text) => !/^\.+$/.test(text));
  const different: string[] = [];
  for (let round = 0; round < 800; round++) {
    const root = pick(['', '/', '/w/']);
    const pattern = root + Array.from({ length: 1 + next(3) }, patternSegment).join('/');
    // There the stars of picomatch match one directory at least.
    if (pattern.startsWith('/**')) continue;
    const [file, path] = [fileGlob(pattern), pathGlob(pattern)];
    const theirFile = picomatch(pattern, { dot: true, noextglob: true });
    const theirPath = picomatch(pattern, { dot: true, noextglob: true, nocase: true });
    for (let index = 0; index < 10; index++) {
      const text = root + names().join('/');
      if (!text || text.endsWith('/')) continue;
      if (file(text) !== theirFile(text)) different.push(`${pattern} on ${text}: picomatch says ${theirFile(text)}`);
      if (path(text) !== theirPath(text)) different.push(`${pattern} on ${text}: no case: ${theirPath(text)}`);
    }
  }
  expect(different).toEqual([]);
});
