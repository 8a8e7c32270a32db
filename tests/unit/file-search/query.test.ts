import { describe, expect, test } from 'vitest';
import {
  enterDirectory,
  matchEntry,
  parseQuery,
  positionsIn,
  scoreOf,
  startOfPath,
} from '#server/file-search/query.ts';
import { foldCase } from '#server/files/fold-case.ts';

/** Matches a path against a query. */
function answer(text: string, path: string) {
  const query = parseQuery(text);
  if (!query) return undefined;
  const segments = foldCase(path).split('/');
  const name = segments.pop() ?? '';
  let progress = startOfPath;
  for (const segment of segments) progress = enterDirectory(query, progress, segment);
  const match = matchEntry(query, progress, name);
  if (!match) return undefined;
  const score = scoreOf(query, match, segments.length + 1, name.length);
  return { ...match, score: Number(score.toFixed(4)), positions: positionsIn(query, path) };
}

describe('a query', () => {
  test.each([
    ['a.ts', 'src/a.ts', { tier: 3, span: 4, score: 0.9375, positions: [4, 5, 6, 7] }],
    ['src/a', 'src/a.ts', { tier: 2, span: 5, score: 0.675, positions: [0, 1, 2, 4] }],
    ['sr/dp/z', 'src/deep/er/z.py', { tier: 2, span: 13, score: 0.6334, positions: [0, 1, 4, 7, 12] }],
    ['docs', 'docs', { tier: 3, span: 4, score: 1, positions: [0, 1, 2, 3] }],
    ['SRC/A.TS', 'src/a.ts', { tier: 3, span: 8, positions: [0, 1, 2, 4, 5, 6, 7] }],
    ['./src/./a', 'src/a.ts', { tier: 2, positions: [0, 1, 2, 4] }],
    ['src/', 'src/deep/x', { tier: 1, positions: [0, 1, 2] }],
    ['src//a', 'src/a.ts', { tier: 2 }],
    ['ab', 'x/a-b', { tier: 1, span: 3, positions: [2, 4] }],
    ['ab', 'aXXb', { tier: 1, span: 4 }],
    ['aab', 'abaab', { tier: 1, span: 5, positions: [0, 2, 4] }],
    ['ä', 'x/Ä.md', { tier: 2, positions: [2] }],
    ['😀', 'x/😀', { tier: 3, span: 2, positions: [2, 3] }],
    ['i', 'İi', { tier: 1, positions: [1] }],
    ['a/a', 'a/b/a', { tier: 2, positions: [0, 4] }],
  ])('%j on %j', (text, path, expected) => {
    expect(answer(text, path)).toMatchObject(expected);
  });

  test.each([
    ['b/a', 'a/b'],
    ['src/a', 'a/src'],
    ['a/b', 'ab'],
    ['ba', 'ab'],
    ['/', 'a/b'],
    ['///', 'a'],
    ['src', 'src/a.ts'],
    ['a/b/c', 'a/b'],
  ])('%j does not match %j', (text, path) => {
    expect(answer(text, path)).toBeUndefined();
  });

  test.each(['', './', '././/', '.'])('%j is an empty query', (text) => {
    expect(parseQuery(text)).toBeUndefined();
  });
});
