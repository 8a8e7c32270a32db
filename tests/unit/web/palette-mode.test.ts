/** The lists of the palette, by the first character of the text. */
import { expect, it } from 'vitest';
import { matchesWords, splitMark } from '../../../web/state/palette-mode.ts';

const marks = ['>', '@', '/'];

it('separates the mark from the query', () => {
  expect(splitMark('>new', marks)).toEqual({ mark: '>', query: 'new' });
  expect(splitMark(' @ two words ', marks)).toEqual({ mark: '@', query: 'two words' });
  expect(splitMark('/', marks)).toEqual({ mark: '/', query: '' });
});

it('leaves a text without a mark to the search, unchanged', () => {
  for (const text of ['', 'a > b', '"> quoted'])
    expect(splitMark(text, marks)).toEqual({ mark: undefined, query: text });
});

it('finds words in any order and case', () => {
  expect(matchesWords('Show or hide the sidebar', 'SIDE show')).toBe(true);
  expect(matchesWords('Show or hide the sidebar', 'show panel')).toBe(false);
  expect(matchesWords('Anything', '')).toBe(true);
});
