/** Reviews: the lines of differences, the edits of calls, and comments as a prompt. */
import { describe, expect, it } from 'vitest';
import type { Item } from '@service-code/client';
import {
  addressOf,
  commentedLines,
  parseComments,
  reviewPrompt,
  stringifyComments,
} from '../../../web/features/review/comments.ts';
import {
  changeStarts,
  countLines,
  pairRows,
  partnersOf,
  replacedRows,
  segmentsOf,
  unifiedRows,
  writtenRows,
  type DiffRow,
} from '../../../web/features/review/diff-rows.ts';
import { editedCount, editedFiles, editedRows, editingFrames } from '../../../web/features/review/edits.ts';
import { displayedPath, treeFiles } from '../../../web/features/review/files.ts';
import { moveOf } from '../../../web/features/review/list-keys.ts';

const DIFF = [
  'diff --git a/a.ts b/a.ts',
  '--- a/a.ts',
  '+++ b/a.ts',
  '@@ -3,4 +3,5 @@ function',
  ' same',
  '-const one = 1;',
  '-gone',
  '+const one = 2;',
  '+new',
  '+newer',
  ' end',
  '@@ -20 +21 @@',
  '-last',
  '+final',
  '\\ No newline at end of file',
].join('\n');
const rows = unifiedRows(DIFF);
const brief = ({ kind, before, after, text }: DiffRow) => [kind, before, after, text];

describe('the rows of a difference', () => {
  it('have the numbers of both files', () => {
    expect(rows.map(brief)).toEqual([
      ['place', undefined, undefined, '@@ -3,4 +3,5 @@ function'],
      ['same', 3, 3, 'same'],
      ['removed', 4, undefined, 'const one = 1;'],
      ['removed', 5, undefined, 'gone'],
      ['added', undefined, 4, 'const one = 2;'],
      ['added', undefined, 5, 'new'],
      ['added', undefined, 6, 'newer'],
      ['same', 6, 7, 'end'],
      ['place', undefined, undefined, '@@ -20 +21 @@'],
      ['removed', 20, undefined, 'last'],
      ['added', undefined, 21, 'final'],
      ['place', undefined, undefined, 'No newline at end of file'],
    ]);
    expect(countLines(rows)).toEqual({ added: 4, removed: 3 });
  });

  it('of a written file are numbered, those of a replaced text are not', () => {
    expect(writtenRows('a\nb\n').map(brief)).toEqual([
      ['added', undefined, 1, 'a'],
      ['added', undefined, 2, 'b'],
    ]);
    expect(replacedRows('a', 'b').every(({ before, after }) => before === undefined && after === undefined)).toBe(true);
  });

  it('start a change at the first of its lines', () => {
    expect(changeStarts(rows)).toEqual([2, 9]);
  });

  it('are paired in two columns, the longer side with empty places', () => {
    const pairs = pairRows(rows);
    expect(pairs).toEqual([
      { left: 0, right: 0 },
      { left: 1, right: 1 },
      { left: 2, right: 4 },
      { left: 3, right: 5 },
      { left: undefined, right: 6 },
      { left: 7, right: 7 },
      { left: 8, right: 8 },
      { left: 9, right: 10 },
      { left: 11, right: 11 },
    ]);
    expect([...partnersOf(pairs)]).toEqual([
      [2, 4],
      [4, 2],
      [3, 5],
      [5, 3],
      [9, 10],
      [10, 9],
    ]);
  });
});

describe('the changed words of a line', () => {
  const line = (kind: 'added' | 'removed', text: string): DiffRow => ({ kind, text });
  const words = (one: DiffRow, other: DiffRow | undefined) =>
    segmentsOf(one, other).map(({ text, changed }) => (changed ? `[${text}]` : text));

  it('are those that differ', () => {
    const [before, after] = [line('removed', 'const one = 1;'), line('added', 'const one = 2;')];
    expect(words(before, after)).toEqual(['const one = ', '[1]', ';']);
    expect(words(after, before)).toEqual(['const one = ', '[2]', ';']);
  });

  it('are not marked where a line was replaced, is very long, or has no partner', () => {
    expect(words(line('removed', 'gone'), line('added', 'const other = 2;'))).toEqual(['gone']);
    const long = 'x '.repeat(600);
    expect(words(line('removed', `${long}1`), line('added', `${long}2`))).toEqual([`${long}1`]);
    expect(words(line('added', 'a'), undefined)).toEqual(['a']);
  });
});

describe('edits', () => {
  let lastId = 0;
  const call = (name: string, input: object, more: object = {}) => {
    const toolCallId = `call_${++lastId}`;
    return { kind: 'tool', frameId: toolCallId, toolCallId, name, state: 'done', input, ...more };
  };
  const turn = (...frames: object[]) =>
    ({
      kind: 'turn',
      turnId: `t${++lastId}`,
      state: 'completed',
      steps: [{ kind: 'step', frames }],
    }) as unknown as Item;
  const items = [
    turn(
      call(
        'Write',
        { path: 'a.ts', content: 'one\ntwo\n' },
        { display: { kind: 'file_io', operation: 'write', path: '/p/a.ts' } },
      ),
      call('Bash', { command: 'rm b.ts' }),
      call('Edit', { path: '/p/b.ts', old_string: 'x', new_string: 'y' }, { state: 'error' }),
    ),
    turn(
      { kind: 'text', text: 'done' },
      call('Edit', { path: '/p/a.ts', old_string: 'one', new_string: 'ones' }),
      call('Write', { path: '/elsewhere/c', content: 'more\n', mode: 'append' }),
    ),
  ];
  const heading = ({ tool, at, count }: { tool: string; at: number; count: number }) => `${tool} ${at}/${count}`;

  it('are those of successful Write and Edit calls, by file', () => {
    const files = editedFiles(editingFrames(items, 'session'), '/p');
    expect(files.map(({ path, isWritten, frames }) => [path, isWritten, frames.length])).toEqual([
      ['a.ts', true, 2],
      ['/elsewhere/c', false, 1],
    ]);
    const [first] = files;
    expect(first && editedRows(first, heading).map(brief)).toEqual([
      ['place', undefined, undefined, 'Write 1/2'],
      ['added', undefined, 1, 'one'],
      ['added', undefined, 2, 'two'],
      ['place', undefined, undefined, 'Edit 2/2'],
      ['removed', undefined, undefined, 'one'],
      ['added', undefined, undefined, 'ones'],
    ]);
    expect(first && editedCount(first)).toEqual({ added: 3, removed: 1 });
  });

  it('of a turn are those of the last one', () => {
    const frames = editingFrames(items, 'turn');
    expect(editedFiles(frames, '/p').map(({ path, isWritten }) => [path, isWritten])).toEqual([
      ['a.ts', false],
      ['/elsewhere/c', false],
    ]);
    expect(editingFrames([], 'turn')).toEqual([]);
  });
});

it('the displayed file is the chosen one, or the first', () => {
  const files = treeFiles({ entries: { 'a.ts': 'modified', 'b.ts': 'untracked' } }, []);
  expect(displayedPath(files, 'b.ts')).toBe('b.ts');
  expect(displayedPath(files, 'gone.ts')).toBe('a.ts');
  expect(displayedPath([], 'a.ts')).toBeUndefined();
});

describe('comments', () => {
  it('are stored and restored; a damaged text has none', () => {
    const lines = { from: 2, to: 3, isBefore: true };
    const stored = [
      { id: 1, path: 'a.ts', lines, quote: '-one', text: 'Why?', isAdded: true },
      { id: 2, path: 'b.ts', lines: undefined, quote: '+two', text: 'Half', isAdded: false },
    ];
    expect(parseComments(stringifyComments(stored))).toEqual(stored);
    expect(stringifyComments([])).toBe('');
    for (const text of ['', '{', 'null', '[]', '{}', '[1,{"path":"a"}]']) expect(parseComments(text)).toEqual([]);
  });

  it('name the lines of the changed file, or else of the earlier one', () => {
    const changed = commentedLines('a.ts', rows.slice(2, 6));
    expect(changed && [addressOf(changed), changed.quote]).toEqual([
      'a.ts:4-5',
      '-const one = 1;\n-gone\n+const one = 2;\n+new',
    ]);
    expect(commentedLines('a.ts', rows.slice(9, 10))?.lines).toEqual({ from: 20, to: 20, isBefore: true });
    expect(commentedLines('a.ts', replacedRows('', 'x'))?.lines).toBeUndefined();
    expect(commentedLines('a.ts', rows.slice(0, 1))).toBeUndefined();
  });

  it('are one prompt with path, lines and quoted text', () => {
    const first = commentedLines('a.ts', rows.slice(2, 3));
    const second = commentedLines('b.md', replacedRows('', '```\ncode'));
    if (!first || !second) throw new Error('no lines');
    expect(
      reviewPrompt([
        { ...first, id: 1, text: 'Why? ', isAdded: true },
        { ...second, id: 2, text: 'A shorter one.', isAdded: true },
      ]),
    ).toBe(
      [
        'Review comments on the changes:',
        'a.ts:4 (removed lines)\n```diff\n-const one = 1;\n```\nWhy?',
        'b.md\n````diff\n+```\n+code\n````\nA shorter one.',
      ].join('\n\n'),
    );
  });
});

it.each([
  ['ArrowDown', false, { index: 6, extends: false }],
  ['ArrowUp', true, { index: 4, extends: true }],
  ['PageDown', false, { index: 9, extends: false }],
  ['PageUp', false, { index: 0, extends: false }],
  ['Home', true, { index: 0, extends: true }],
  ['End', false, { index: 9, extends: false }],
  ['x', false, undefined],
])('%s with shift %j moves the cursor to %j', (key, shiftKey, move) => {
  expect(moveOf({ key, shiftKey }, 5, 10)).toEqual(move);
});
