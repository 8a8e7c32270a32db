/** Completions of the composer: mentions of files, and the insertion of what was chosen. */
import { describe, expect, it } from 'vitest';
import { gatherFeatures, type Completion } from '../../../web/features/feature.ts';
import { mentionAt, mentionOf } from '../../../web/features/mentions/mention.ts';
import { insertAt } from '../../../web/state/typed-part.ts';

describe('a mention', () => {
  it.each([
    ['@', { start: 0, query: '' }],
    ['look at @src/a', { start: 8, query: 'src/a' }],
    ['(@x', { start: 1, query: 'x' }],
    ['line\n@x', { start: 5, query: 'x' }],
    ['me@example.org', undefined],
    ['@x done', undefined],
    ['@a@b', undefined],
    ['', undefined],
  ])('ends %j: %j', (text, found) => {
    expect(mentionAt(text, text.length)).toEqual(found && { ...found, end: text.length });
  });

  it('is the one before the caret', () => {
    expect(mentionAt('see @ab and @cd', 7)).toEqual({ start: 4, end: 7, query: 'ab' });
  });

  it('is replaced by a path; typing can continue after a directory', () => {
    const part = { start: 4, end: 7 };
    const inserted = (text: string, path: string, kind: 'file' | 'directory' | 'symlink') =>
      insertAt(text, part, mentionOf({ path, kind }));
    expect(inserted('see @ab', 'src/ab.ts', 'file')).toEqual({ text: 'see @src/ab.ts ', caret: 15 });
    expect(inserted('see @ab', 'src', 'directory')).toEqual({ text: 'see @src/', caret: 9 });
  });
});

it('an inserted text has one space after it, and the caret is after the space', () => {
  const x = { text: '@x' };
  expect(insertAt('see @ab now', { start: 4, end: 7 }, x)).toEqual({ text: 'see @x now', caret: 7 });
  expect(insertAt('@ab\nnow', { start: 0, end: 3 }, x)).toEqual({ text: '@x \nnow', caret: 3 });
});

describe('features', () => {
  const completion = (label: string, opener: string): Completion => ({
    label,
    typedAt: (text, caret) => (text.startsWith(opener) ? { start: 0, end: caret, query: '' } : undefined),
    open: () => () => Promise.resolve([]),
    row: {},
  });

  it('complete a text in their order', () => {
    const { completionAt } = gatherFeatures([
      { completion: completion('one', '#') },
      {},
      { completion: completion('two', '#!') },
      { completion: completion('three', '!') },
    ]);
    const labelAt = (text: string) => completionAt(text, 1)?.completion.label;
    expect([labelAt('#!'), labelAt('!'), labelAt('x')]).toEqual(['one', 'three', undefined]);
  });

  it('send what was typed until one has sent it', async () => {
    const called: string[] = [];
    const sender = (name: string, isSent: boolean) => ({
      sendTyped: () => {
        called.push(name);
        return Promise.resolve(isSent);
      },
    });
    const typed = {
      rest: { request: () => Promise.reject(new Error('unused')) },
      sessionId: 's',
      text: 'x',
      attachments: [],
    };
    const all = gatherFeatures([sender('a', false), {}, sender('b', true), sender('c', true)]);
    expect(await all.sendTyped(typed)).toBe(true);
    expect(called).toEqual(['a', 'b']);
    expect(await gatherFeatures([sender('a', false)]).sendTyped(typed)).toBe(false);
  });
});
