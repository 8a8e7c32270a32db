import { describe, expect, it } from 'vitest';
import { entryGlobs } from '#server/files/entry-globs.ts';

const globs = (...patterns: string[]) => entryGlobs(patterns, 'globs');

describe('entryGlobs', () => {
  it.each<[pattern: string, matched: string[], others: string[]]>([
    ['*.ts', ['a.ts', 'x/y/a.ts', '.ts'], ['a.tsx', 'a.TS', 'a.ts/b']],
    ['src', ['src', 'x/src'], ['src/a', 'srcs']],
    ['src/*', ['src/a'], ['src', 'src/a/b', 'x/src/a']],
    ['/a', ['a'], ['x/a']],
    ['//a', ['a'], ['x/a']],
    ['src/**', ['src/a', 'src/a/b'], ['src']],
    ['**/b/*.c', ['b/x.c', 'a/b/x.c'], ['a/b/d/x.c']],
    ['a/**/z', ['a/z', 'a/b/c/z'], ['b/a/z']],
    ['{a,b/c}', ['a', 'b/c'], ['x/a', 'c']],
    ['*.{js,ts}', ['a.js', 'x/a.ts'], ['a.css']],
    ['[a-c]?', ['ax', 'x/cb'], ['dx', 'a']],
    ['[!a]', ['b'], ['a']],
    ['a\\*', ['a*'], ['ab']],
  ])('%s', (pattern, matched, others) => {
    for (const path of matched) expect([path, globs(pattern)?.matches(path, false)]).toEqual([path, true]);
    for (const path of others) expect([path, globs(pattern)?.matches(path, false)]).toEqual([path, false]);
  });

  it('needs one of several patterns', () => {
    expect(globs('a', 'x/b')?.matches('a', false)).toBe(true);
    expect(globs('a', 'x/b')?.matches('c', false)).toBe(false);
    expect(globs('y/a', 'x/b')?.reachBelow('x')).toBe(true);
    expect(globs('y/a', 'x/b')?.reachBelow('z')).toBe(false);
  });

  it('matches only directories with a final slash', () => {
    expect(globs('build/')?.matches('x/build', true)).toBe(true);
    expect(globs('build//')?.matches('x/build', true)).toBe(true);
    expect(globs('build/')?.matches('build', false)).toBe(false);
    expect(globs('x/build/')?.matches('x/build', true)).toBe(true);
  });

  it.each([
    ['a/b/*.js', ['a', 'a/b'], ['b', 'a/c', 'a/b/c']],
    ['a/**/x', ['a', 'a/b/c'], ['b']],
    ['*.js', ['a', 'a/b'], []],
    ['{a/b,c/d}/e', ['a', 'c/d'], ['a/d']],
  ])('%s lies below', (pattern, above, others) => {
    for (const path of above) expect([path, globs(pattern)?.reachBelow(path)]).toEqual([path, true]);
    for (const path of others) expect([path, globs(pattern)?.reachBelow(path)]).toEqual([path, false]);
  });

  it('names the invalid pattern', () => {
    for (const pattern of ['', '/', '[a', 'a{b,c', 'x\\', '[z-a]', '{a,b}'.repeat(9)]) {
      expect(() => globs('ok', pattern)).toThrow(/^globs\.1: invalid glob: /);
    }
    expect(entryGlobs([], 'globs')).toBeUndefined();
    expect(entryGlobs(undefined, 'globs')).toBeUndefined();
  });
});
