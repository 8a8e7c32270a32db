import { describe, expect, test } from 'vitest';
import { escapeGlob, globFault, nameGlob, pathGlob, textGlob, unescapeGlob } from '#server/files/globs.ts';
import { parsePattern } from '#server/config/permission-pattern.ts';

describe('text globs', () => {
  test.each([
    ['rm -rf *', 'rm -rf /var/x', true],
    ['rm -rf *', 'rm -rf ', true],
    ['rm -rf *', 'rm -r x', false],
    ['git status*', 'git status\n--short', true],
    ['*', '', true],
    ['', '', true],
    ['', 'x', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['**/x', 'a/b/x', true],
    ['npm {test,run lint}', 'npm run lint', true],
    ['npm {test,run {a,b}}', 'npm run b', true],
    ['npm {test,run}', 'npm runs', false],
    ['{x}', '{x}', true],
    ['{a,b', '{a,b', true],
    ['[ -f *', '[ -f x', true],
    ['file[0-9]', 'file7', true],
    ['file[!0-9]', 'file7', false],
    ['file[^0-9]', 'filex', true],
    ['[]]', ']', true],
    ['[a\\]]', ']', true],
    ['\\*', '*', true],
    ['\\*', 'x', false],
    ['\\{a,b}', '{a,b}', true],
    ['x\\', 'x\\', true],
    ['{a\\},b}', 'a}', true],
    ['{a\\,b}', '{a,b}', true],
    ['[^x]', '\n', true],
    ['Git', 'git', false],
  ])('%j on %j: %s', (pattern, text, expected) => {
    expect(textGlob(pattern)(text)).toBe(expected);
  });

  test('an escaped text matches only itself', () => {
    const text = 'echo "*?[a]{b,c}(d|e)\\ !x" $HOME\n&& ls';
    expect(textGlob(escapeGlob(text))(text)).toBe(true);
    expect(textGlob(escapeGlob(text))(text.replace('*', 'z'))).toBe(false);
    expect(unescapeGlob(escapeGlob(text))).toBe(text);
  });

  test('many stars match in bounded time', () => {
    const started = performance.now();
    expect(textGlob('*a*a*a*a*a*a*a*a*b')('a'.repeat(20_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('rejects malformed globs', () => {
    expect(() => textGlob('[z-a]')).toThrow('out of order');
    expect(() => textGlob('{a,b}'.repeat(9))).toThrow('256');
    expect(textGlob('{a,b}'.repeat(8))('abababab')).toBe(true);
  });
});

test('globs of names match no part of a path', () => {
  expect(nameGlob('{*.ts,x}')('a.ts')).toBe(true);
  expect(nameGlob('{*.ts,x}')('x')).toBe(true);
  expect(nameGlob('{*.ts,x}')('a.js')).toBe(false);
});

test.each([
  ['a{b,c}[d]\\{', undefined],
  ['}a', undefined],
  ['}{a}', undefined],
  ['[{]', undefined],
  ['a\\', 'nothing follows the last backslash'],
  ['a[b', 'a bracket is never closed'],
  ['{a{b}', 'a brace is never closed'],
  ['}{', 'a brace is never closed'],
])('the fault of %j is %s', (pattern, fault) => {
  expect(globFault(pattern)).toBe(fault);
});

describe('path globs', () => {
  test.each([
    ['/w/*', '/w/a', true],
    ['/w/*', '/w/a/b', false],
    ['/w/*', '/w/.env', true],
    ['/w/**', '/w/a/b', true],
    ['**/*.lock', '/w/a/yarn.lock', true],
    ['/W/Src/*', '/w/src/a', true],
    ['/w/{a,b}/?', '/w/b/x', true],
    ['/w/[ab]', '/w/c', false],
    ['/w/app/(auth)/*', '/w/app/(auth)/p', true],
    ['/w/app/(auth)/*', '/w/app/auth/p', false],
    ['/w/a|b/*', '/w/a|b/c', true],
    ['!/w/a', '/w/b', false],
  ])('%j on %j: %s', (pattern, path, expected) => {
    expect(pathGlob(pattern)(path)).toBe(expected);
  });

  test('an escaped path matches only itself', () => {
    const path = '/w/[id]/(group)/{x}/a*b?!c|d+@e $f.ts';
    expect(pathGlob(escapeGlob(path))(path)).toBe(true);
    expect(pathGlob(escapeGlob(path))('/w/i/(group)/{x}/a*b?!c|d+@e $f.ts')).toBe(false);
  });
});

describe('patterns', () => {
  test('tool names, arguments, negation', () => {
    expect(parsePattern('Bash')).toMatchObject({ args: undefined, negated: false });
    expect(parsePattern('Bash()')).toMatchObject({ args: undefined, negated: false });
    expect(parsePattern('Bash(echo (a) b)')).toMatchObject({ args: 'echo (a) b', negated: false });
    expect(parsePattern('Bash(!git *)')).toMatchObject({ args: 'git *', negated: true });
    expect(parsePattern('Bash(a\nb)')).toMatchObject({ args: 'a\nb' });
    expect(parsePattern('mcp__github__*').matchesTool('mcp__github__list')).toBe(true);
    expect(parsePattern('*').matchesTool('anything')).toBe(true);
    expect(parsePattern('Read').matchesTool('ReadMediaFile')).toBe(false);
  });

  test.each(['', '()', 'Bash(', 'Bash)', 'Bash(x) y', 'Two Words', '!Bash', 'Bash(!)', 'Bash([z-a])'])(
    'rejects %j',
    (text) => {
      expect(() => parsePattern(text)).toThrow('invalid permission pattern');
    },
  );
});
