import { describe, expect, it } from 'vitest';
import { lineDiff } from '../../../web/render/line-diff.ts';
import { timeAgo } from '../../../web/messages/time-ago.ts';
import { displayViews } from '../../../web/features/displays/views.ts';
import { fileViews } from '../../../web/features/files/views.ts';
import { shellViews } from '../../../web/features/shell/views.ts';
import { createToolViews, languageOf, shortPath } from '../../../web/render/tool-view.ts';

const call = { label: undefined, display: undefined, output: undefined };
const { ofCall, ofDisplay } = createToolViews([shellViews, fileViews, displayViews]);

describe('tool summaries', () => {
  it('are derived from the arguments of core tools', () => {
    expect(ofCall({ ...call, name: 'Bash', input: { command: 'npm test\nnpm run lint' } })).toMatchObject({
      verb: 'Run',
      subject: 'npm test …',
      body: { kind: 'command', command: 'npm test\nnpm run lint' },
    });
    expect(ofCall({ ...call, name: 'Edit', input: { path: 'a.ts', old_string: 'x', new_string: 'y' } })).toMatchObject({
      verb: 'Edit',
      subject: 'a.ts',
      body: { kind: 'edit', before: 'x', after: 'y' },
    });
  });

  it('are derived from the display of other tools, else from name and label', () => {
    const display = { kind: 'search' as const, query: 'vite' };
    expect(ofCall({ ...call, name: 'WebSearch', input: {}, display })).toMatchObject({
      verb: 'Search',
      subject: 'vite',
    });
    expect(ofCall({ ...call, name: 'mcp__x__y', input: { a: 1 } })).toMatchObject({
      verb: 'x: y',
      body: { kind: 'json', value: { a: 1 } },
    });
    expect(ofCall({ ...call, name: 'constructor', input: {} })).toEqual({ verb: 'constructor', subject: '' });
  });

  it('contain the path or directory of an approval', () => {
    expect(ofDisplay('Bash', { kind: 'command', command: 'ls', cwd: '/w/sub' })).toMatchObject({ cwd: '/w/sub' });
    expect(ofDisplay('Write', { kind: 'file_io', operation: 'write', path: '/w/a.txt', content: 'x' })).toMatchObject({
      path: '/w/a.txt',
      body: { kind: 'write', path: '/w/a.txt', content: 'x' },
    });
    expect(ofDisplay('Grep', { kind: 'file_io', operation: 'grep', path: '/w', detail: 'x' })).toEqual({
      verb: 'Search',
      subject: 'x in /w',
      effect: 'reads',
    });
  });

  it('accept arguments of the wrong type', () => {
    expect(ofCall({ ...call, name: 'Bash', input: 'not json' })).toMatchObject({ verb: 'Run', subject: '' });
    expect(ofDisplay('TodoList', { kind: 'todo_list', items: [] })).toMatchObject({ verb: 'TodoList' });
  });
});

it('draws a change line by line', () => {
  expect(lineDiff('a\nb\n', 'a\nc\n')).toEqual([
    { kind: 'same', text: 'a' },
    { kind: 'removed', text: 'b' },
    { kind: 'added', text: 'c' },
  ]);
  expect(lineDiff('', 'x')).toEqual([{ kind: 'added', text: 'x' }]);
});

it('draws CRLF of a change as a line end unless line ends differ', () => {
  expect(lineDiff('a\r\nb\r\n', 'a\r\nc')).toEqual([
    { kind: 'same', text: 'a' },
    { kind: 'removed', text: 'b' },
    { kind: 'added', text: 'c' },
  ]);
  expect(lineDiff('a\n', 'a\r\n')).toEqual([
    { kind: 'removed', text: 'a' },
    { kind: 'added', text: 'a\r' },
  ]);
  expect(lineDiff('', 'x\ry\r')).toEqual([{ kind: 'added', text: 'x\ry\r' }]);
});

it('shortens paths and times', () => {
  expect(shortPath('/w/a/b.ts', '/w')).toBe('a/b.ts');
  expect(shortPath('/wide/b.ts', '/w')).toBe('/wide/b.ts');
  expect(languageOf('/w/a.TS')).toBe('ts');
  const now = Date.parse('2026-01-08T00:00:00.000Z');
  expect(
    ['2026-01-07T23:59:30.000Z', '2026-01-07T21:00:00.000Z', '2025-12-01T00:00:00.000Z'].map((at) => timeAgo(at, now)),
  ).toEqual(['now', '3h', '2025-12-01']);
});
