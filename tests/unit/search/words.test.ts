import { toUSVString } from 'node:util';
import { describe, expect, it } from 'vitest';
import { normalizedText, normalizeText } from '#server/text/normalized-text.ts';
import { snippetOf, wantedTexts } from '#server/search/snippet.ts';
import { normalized, queryTermsOf, termsOf } from '#server/search/words.ts';
import { seeded } from '#support/random.ts';

describe('terms', () => {
  it.each([
    ['foo_bar foo.bar fooBar', ['foo', 'bar', 'foo', 'bar', 'foobar']],
    ['ＡＢＣ ﬁle É e\u0301', ['abc', 'file', 'é', 'é']],
    ['你好，世界', ['你', '好', '你好', '世', '界', '世界']],
    ['カナー、々', ['カ', 'ナ', 'ー', 'カナ', 'ナー', '々']],
    ['v2版本', ['v2', '版', '本', '版本']],
    ['한국 ab', ['한', '국', '한국', 'ab']],
    ['𠮷野', ['𠮷', '野', '𠮷野']],
    ['!!! …', []],
  ])('of %s', (text, terms) => {
    expect(termsOf(normalized(text))).toEqual(terms);
  });

  it.each([
    ['世界 世 世界 ok OK', ['世界', '世', 'ok']],
    ['你好世界', ['你好', '好世', '世界']],
  ])('of the query %s are distinct, and only pairs of a run', (query, terms) => {
    expect(queryTermsOf(normalized(query))).toEqual(terms);
  });
});

describe('positions of a normalized text', () => {
  /** Characters whose normalization depends on their neighbours, and any others. */
  function randomText(random: () => number): string {
    const ranges = [
      [0x20, 95],
      [0x300, 0x70],
      [0x1100, 0x100],
      [0xac00, 11_172],
      [0xff00, 0xee],
      [0, 0x10_ffff],
    ];
    const character = () => {
      const [from = 0, size = 0] = ranges[Math.floor(random() * ranges.length)] ?? [];
      return String.fromCodePoint(from + Math.floor(random() * size));
    };
    return Array.from({ length: 1 + Math.floor(random() * 6) }, character).join('');
  }

  it('lead to the part of the original from which a part was made', () => {
    const random = seeded(7);
    for (let run = 0; run < 20_000; run += 1) {
      const original = randomText(random);
      const { text, original: partOf } = normalizedText(original);
      const start = Math.floor(random() * text.length);
      const end = start + 1 + Math.floor(random() * (text.length - start));
      const part = partOf({ start, end: Math.min(end, text.length) });
      if (text === '') continue;
      expect(normalizeText(original.slice(part.start, part.end))).toContain(text.slice(start, end));
    }
  });
});

describe('a snippet', () => {
  const cut = (text: string, query: string, mode: 'literal' | 'terms') =>
    snippetOf(text, wantedTexts({ text: query, terms: queryTermsOf(query), mode }));

  it.each([
    ['the ﬁle ＡＢＣ', 'file abc', 'the ﬁle ＡＢＣ'],
    ['İstanbul', 'i̇s', 'İstanbul'],
    ['a cafe\u0301 b', 'café', 'a cafe\u0301 b'],
    ['<b>ＨＩＴ</b> & <mark>', 'hit', '<b>ＨＩＴ</b> & <mark>'],
  ])('of %s shows the original', (text, query, snippet) => {
    expect(cut(text, query, 'literal')).toBe(snippet);
  });

  it('has 80 units on each side, and marks where it is cut', () => {
    const snippet = cut(`${'a'.repeat(100)}Hit${'b'.repeat(100)}`, 'hit', 'literal');
    expect(snippet).toBe(`…${'a'.repeat(80)}Hit${'b'.repeat(80)}…`);
  });

  it('never has half of a surrogate pair', () => {
    for (let before = 78; before < 84; before += 1) {
      const snippet = cut(`${'🚀'.repeat(60)}${'x'.repeat(before % 4)}hit${'🚀'.repeat(60)}`, 'hit', 'literal');
      expect(snippet).toBe(snippet.replaceAll(/\p{Cs}/gu, '?'));
      expect(snippet).toMatch(/^…(🚀)+x*hit(🚀)+…$/u);
    }
  });

  it('is a part of any text, with whole characters', () => {
    const random = seeded(13);
    const pieces = [
      'ﬁle ',
      'ＡＢＣ',
      'e\u0301',
      'İ',
      '🚀',
      '👩‍👩‍👧',
      'ｶﾞ',
      '한',
      '\n\t ',
      'word ',
      '<i>',
      '…',
      'x'.repeat(40),
    ];
    const textOf = (length: number) =>
      Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)] ?? '').join('');
    for (let run = 0; run < 3_000; run += 1) {
      const text = textOf(1 + Math.floor(random() * 40));
      const query = normalized(random() < 0.5 ? textOf(1 + Math.floor(random() * 2)) : text.slice(3, 9));
      const mode = random() < 0.5 ? 'literal' : 'terms';
      const snippet = cut(text, query, mode);
      const collapsed = text.replaceAll(/\s+/g, ' ');
      expect(toUSVString(snippet)).toBe(snippet);
      const shown = collapsed.includes(snippet) ? snippet : snippet.replace(/^…/, '').replace(/…$/, '');
      expect(collapsed.includes(shown) || collapsed.includes(shown.replace(/^…/, ''))).toBe(true);
      if (mode === 'literal' && normalized(text).includes(query)) {
        expect(normalized(snippet).replaceAll(/\s+/g, ' ')).toContain(query.replaceAll(/\s+/g, ' '));
      }
    }
  });

  it('shows the earliest word of the query, the longest at its place', () => {
    const text = `${'- '.repeat(100)}needles and a needle`;
    expect(cut(text, 'needle needles', 'terms')).toMatch(/^… ?(- )+needles and a needle$/);
    expect(cut('one\n\ttwo', 'two', 'terms')).toBe('one two');
  });

  it('is the beginning of a text in which the query does not occur', () => {
    expect(cut('x'.repeat(200), 'absent', 'terms')).toBe(`${'x'.repeat(160)}…`);
  });

  it('is looked for with few texts, also for a long query of few words', () => {
    const query = Array.from({ length: 30 }, (_, at) => `${'word '.repeat(1000)}${at}`).join(' ');
    const wanted = wantedTexts({ text: query, terms: queryTermsOf(query), mode: 'terms' });
    expect(wanted).toEqual([query, 'word', ...Array.from({ length: 30 }, (_, at) => `${at}`)]);
    const pairs = Array.from('搜索文字', (one) => Array.from('很长的一段', (other) => one + other)).flat();
    const words = pairs.flatMap((pair) => pairs.map((other) => pair + other));
    const unspaced = { text: words.join(' '), terms: pairs, mode: 'terms' } as const;
    expect(wantedTexts(unspaced).length).toBeLessThanOrEqual(100);
  });
});
