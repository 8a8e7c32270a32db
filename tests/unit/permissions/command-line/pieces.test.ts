/** Pieces of lines that the grammar cannot parse: only deny and ask rules use them. */
import { expect, test } from 'vitest';
import { cutPieces } from '#server/permissions/command-line/pieces.ts';

test.each<[string, string[][]]>([
  ['rm x', [['rm', 'x']]],
  ['rm\tx', [['rm', 'x']]],
  ['  rm  x  ', [['rm', 'x']]],
  ['', []],
  ['a; b\nc & d && e | f || g', [['a'], ['b'], ['c'], ['d'], ['e'], ['f'], ['g']]],
  // Line continuations, escapes and comments.
  ['a \\\nb', [['a', 'b']]],
  ['a\\\nb', [['a\\\nb']]],
  ['a\\;b', [['a\\;b']]],
  ['a # b; c\nd', [['a'], ['d']]],
  ['a#b; c', [['a#b'], ['c']]],
  // Redirections and their targets are no words.
  ['a > f b', [['a', 'b']]],
  ['>f a', [['a']]],
  ['a 2>&1 b', [['a', 'b']]],
  ['a2>f b', [['a2', 'b']]],
  ['a >f; b c', [['a'], ['b', 'c']]],
  ['a >; b c', [['a'], ['b', 'c']]],
  // Quotes.
  ["a 'b; c' d", [['a', "'b; c'", 'd']]],
  ['a "b; c" d', [['a', '"b; c"', 'd']]],
  ['a "\\"; b" c', [['a', '"\\"; b"', 'c']]],
  ["a $'b;\\'c' d", [['a', "$'b;\\'c'", 'd']]],
  // An unclosed quote may be part of a here-document, so the text after it is cut all the same.
  ["a 'b; c", [['a', "'b"], ['c']]],
  // Substitutions and groups, also without their end; the inner ones first.
  [
    'a $(b c) d',
    [
      ['b', 'c'],
      ['a', '$(b c)', 'd'],
    ],
  ],
  [
    'a "$(b c)" d',
    [
      ['b', 'c'],
      ['a', '"$(b c)"', 'd'],
    ],
  ],
  [
    'a <(b c) d',
    [
      ['b', 'c'],
      ['a', '<(b c)', 'd'],
    ],
  ],
  [
    'a `b c` d',
    [
      ['b', 'c'],
      ['a', '`b c`', 'd'],
    ],
  ],
  [
    'a "`b c`" d',
    [
      ['b', 'c'],
      ['a', '"`b c`"', 'd'],
    ],
  ],
  ['`a $(b` c', [['b'], ['a', '$(b'], ['`a $(b`', 'c']]],
  ['$(a b', [['a', 'b'], ['$(a b']]],
  ['$(>f a b)', [['a', 'b'], ['$(>f a b)']]],
  ['(a b); c', [['a', 'b'], ['c']]],
  ['a) b', [['a'], ['b']]],
])('%j', (line, words) => {
  expect(cutPieces(line).map((piece) => piece.words)).toEqual(words);
});

test('the source of a piece has its redirections, and no separator', () => {
  expect(cutPieces('a >f b; $(c d); e').map(({ source }) => source)).toEqual(['a >f b', 'c d', '$(c d)', 'e']);
});

test('below the deepest tracked nesting commands are found all the same', () => {
  const line = `${'$('.repeat(60)}rm x${')'.repeat(60)}; ls`;
  const words = cutPieces(line).map((piece) => piece.words.join(' '));
  expect(words).toContain('rm x');
  expect(words).toContain('ls');
});
