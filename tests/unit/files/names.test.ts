/** Comparison of names: for display, and without regard to case. */
import { expect, it } from 'vitest';
import { compareNames } from '#server/files/compare-names.ts';
import { foldCase } from '#server/files/fold-case.ts';

it('names are ordered by letters first, then by case', () => {
  expect(['b', 'Z', 'ä', 'a', 'A', '_'].toSorted(compareNames)).toEqual(['_', 'a', 'A', 'ä', 'b', 'Z']);
});

it.each([
  ['ABC', 'abc'],
  ['ÄÖ', 'äö'],
  ['İX', 'İx'],
  ['\u{10400}Aİ', '\u{10428}aİ'],
  ['ß', 'ß'],
  ['', ''],
])('the folded form of %j is %j, of the same length', (text, folded) => {
  expect(foldCase(text)).toBe(folded);
  expect(foldCase(text)).toHaveLength(text.length);
});
