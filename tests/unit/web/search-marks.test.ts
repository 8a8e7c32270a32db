/** Marks in snippets follow the server's rules of matching. */
import { describe, expect, it } from 'vitest';
import { snippetOf, wantedTexts } from '#server/search/snippet.ts';
import { normalized as serverNormalized, queryTermsOf } from '#server/search/words.ts';
import { integer, pick, seeded, type Random } from '#support/random.ts';
import { markedSegments } from '../../../web/state/search-marks.ts';
import { parseQuery } from '../../../web/state/search-query.ts';

const marks = (snippet: string, query: string) =>
  markedSegments(snippet, parseQuery(query))
    .filter(({ isMarked }) => isMarked)
    .map(({ text }) => text);

const CHARACTERS = [
  ...'abé Zß.,-_9\n',
  'e\u0301',
  '\u0301',
  'ﬁ',
  'Ａ',
  'İ',
  'Σ',
  'ｶﾞ',
  'ｶ',
  '世',
  '界',
  'ー',
  '한',
  '\u1112\u1161\u11ab',
  '😀',
  '👩‍👩‍👧',
  '𠮷',
  '①',
];

const LONE_SURROGATE = /\p{Cs}/u;

const textOf = (random: Random, length: number) => Array.from({ length }, () => pick(random, CHARACTERS)).join('');

describe('marks of a snippet', () => {
  it.each<[string, string, string[]]>([
    ['the Zebrafish and zebrafish.', 'zebrafish', ['Zebrafish', 'zebrafish']],
    ['zebrafish and fish', 'fish', ['fish']],
    ['two words: words, two', 'two words', ['two', 'words', 'words', 'two']],
    ['ＡＢＣ is ﬁle', 'abc file', ['ＡＢＣ', 'ﬁle']],
    ['cafe\u0301 and café', 'CAFÉ', ['cafe\u0301', 'café']],
    ['call getUserName() now', '"userna', ['UserNa']],
    ['a, b and a  b', '"a b"', []],
    ['a b', '"a\n b"', ['a b']],
    ['你好世界', '世界', ['世界']],
    ['你好世界', '好世界', ['好世界']],
    ['他说世,界', '世界', []],
    ['你好世界', '界', ['界']],
    ['a narwhal. ' + 'x'.repeat(20), 'arw', ['arw']],
    ['<b>bold</b> & <script>', 'b', ['b', 'b']],
    ['ΟΔΟΣ', 'οδος', ['ΟΔΟΣ']],
    ['İstanbul', 'i̇stanbul', ['İstanbul']],
    ['ｶﾞラス', 'ガラス', ['ｶﾞラス']],
    ['', 'word', []],
    ['no such thing', '!!!', []],
  ])('%j with %j: %j', (snippet, query, expected) => expect(marks(snippet, query)).toEqual(expected));

  it('are parts of the snippet, which is complete', () => {
    const random = seeded(23);
    for (let round = 0; round < 2_000; round += 1) {
      const snippet = textOf(random, integer(random, 30));
      const query = textOf(random, 1 + integer(random, 3));
      for (const text of [query, `"${query}"`]) {
        const segments = markedSegments(snippet, parseQuery(text));
        expect(segments.map((segment) => segment.text).join('')).toBe(snippet);
        expect(segments.every((segment) => segment.text !== '' && !LONE_SURROGATE.test(segment.text))).toBe(true);
      }
    }
  });

  it('are in every snippet that the server cuts around a match', () => {
    const random = seeded(24);
    for (let round = 0; round < 2_000; round += 1) {
      const text = textOf(random, 200).trim();
      const at = integer(random, text.length - 4);
      const query = text.slice(at, at + 4).replaceAll(/\p{Cs}/gu, '');
      const literal = serverNormalized(query);
      if (serverNormalized(text).includes(literal) && literal.trim() === literal) {
        const snippet = snippetOf(text, [literal]);
        expect([snippet, literal, marks(snippet, `"${query}"`)]).not.toEqual([snippet, literal, []]);
      }
      const terms = queryTermsOf(literal);
      if (!terms.some((term) => serverNormalized(text).includes(term))) continue;
      const snippet = snippetOf(text, wantedTexts({ text: literal, terms, mode: 'terms' }));
      expect([snippet, terms, marks(snippet, query.replaceAll('"', ' '))]).not.toEqual([snippet, terms, []]);
    }
  });
});
