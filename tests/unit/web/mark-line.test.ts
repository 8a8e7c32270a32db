/** The marked line of a file. */
import { expect, it } from 'vitest';
import { highlightOrEscape } from '../../../web/render/highlight.ts';
import { markLine } from '../../../web/render/mark-line.ts';

it('has its line break, and only its text', () => {
  expect(markLine('one\ntwo\nthree', 1)).toBe('<mark>one\n</mark>two\nthree');
  expect(markLine('one\ntwo\nthree', 2)).toBe('one\n<mark>two\n</mark>three');
  expect(markLine('one\ntwo\nthree', 3)).toBe('one\ntwo\n<mark>three</mark>');
});

it('is missing where the text has fewer lines', () => {
  expect(markLine('one\ntwo\n', 3)).toBe('one\ntwo\n');
  expect(markLine('one', 9)).toBe('one');
});

it('closes and opens spans that cross its ends', () => {
  expect(markLine('<span class="c">/* a\nb\nc */</span> x', 2)).toBe(
    '<span class="c">/* a\n</span><mark><span class="c">b\n</span></mark><span class="c">c */</span> x',
  );
  const code = 'const a = `\n${b} <c>\n`;\n';
  const html = highlightOrEscape(code, 'ts');
  expect(markLine(html, 2).replaceAll(/<\/?mark>/g, '')).not.toBe(html);
  const text = (value: string) => value.replaceAll(/<[^>]*>/g, '');
  expect(text(markLine(html, 2))).toBe(text(html));
  expect(text(/<mark>(.*?)<\/mark>/s.exec(markLine(html, 2))?.[1] ?? '')).toBe('${b} &lt;c&gt;\n');
});
