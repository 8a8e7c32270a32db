import { expect, it } from 'vitest';
import { mentionAt, withMention } from '../../../web/state/mention.ts';

it.each([
  ['@', { start: 0, query: '' }],
  ['look at @src/a', { start: 8, query: 'src/a' }],
  ['(@x', { start: 1, query: 'x' }],
  ['line\n@x', { start: 5, query: 'x' }],
  ['me@example.org', undefined],
  ['@x done', undefined],
  ['@a@b', undefined],
  ['', undefined],
])('%j ends in a mention: %j', (text, found) => {
  expect(mentionAt(text, text.length)).toEqual(found);
});

it('is the one before the caret', () => {
  expect(mentionAt('see @ab and @cd', 7)).toEqual({ start: 4, query: 'ab' });
});

it('is replaced by a path; typing can continue after a directory', () => {
  const mention = { start: 4, query: 'ab' };
  expect(withMention('see @ab', mention, { path: 'src/ab.ts', kind: 'file' })).toEqual({
    text: 'see @src/ab.ts ',
    caret: 15,
  });
  expect(withMention('see @ab now', mention, { path: 'x', kind: 'symlink' })).toEqual({ text: 'see @x now', caret: 6 });
  expect(withMention('see @ab', mention, { path: 'src', kind: 'directory' })).toEqual({ text: 'see @src/', caret: 9 });
});
