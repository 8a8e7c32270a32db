/** Calls of tools as an editor displays them. */
import { describe, expect, it } from 'vitest';
import { callView, type ToolFrame } from '../../../clients/acp/tool-calls.ts';

const CWD = '/home/u/project';
const frame = (members: Partial<ToolFrame>): ToolFrame => ({
  kind: 'tool',
  frameId: 't0.1.call_1',
  toolCallId: 'call_1',
  name: 'Bash',
  state: 'running',
  ...members,
});
const view = (members: Partial<ToolFrame>, lines?: string[]) => callView(frame(members), { cwd: CWD, lines });
const text = (value: string) => [{ type: 'content', content: { type: 'text', text: value } }];

describe('callView', () => {
  it('is pending until its arguments are complete', () => {
    expect(view({ inputText: '{"comm' })).toMatchObject({ status: 'pending', kind: 'execute', title: 'Bash' });
    expect(view({ input: { command: 'ls' } }).status).toBe('in_progress');
    expect(view({ input: {}, state: 'done' }).status).toBe('completed');
    expect(view({ input: {}, state: 'error' }).status).toBe('failed');
  });

  it('has the location of a file while its arguments are being written', () => {
    expect(view({ name: 'Write', inputText: '{"path":"src/a \\"b\\".ts","content":"x' })).toMatchObject({
      title: 'Write src/a "b".ts',
      locations: [{ path: '/home/u/project/src/a "b".ts' }],
    });
    expect(view({ name: 'Write', inputText: '{"path":"src/a' }).locations).toEqual([]);
    expect(view({ name: 'Write', inputText: '{"path":"\\x"' }).locations).toEqual([]);
  });

  it('shows the end of growing output in a fence, and then all of it', () => {
    const progress = { kind: 'stdout' as const, text: `${'x'.repeat(20_000)}end` };
    const [running] = view({ input: {}, progress }).content;
    expect(JSON.stringify(running)).toMatch(/x{100}end\\n```/);
    expect(JSON.stringify(running).length).toBeLessThan(17_000);
    expect(view({ input: {}, state: 'done', output: 'a\n``` b\n' }).content).toEqual(text('````\na\n``` b\n````'));
  });

  it('shows an edit as the replaced text and a written file as a whole, without the result', () => {
    const edit = { kind: 'file_io', operation: 'edit', path: `${CWD}/a`, before: 'x', after: 'y' };
    expect(view({ name: 'Edit', display: edit, input: { path: 'a' }, state: 'done', output: 'Edited a.' })).toEqual({
      title: 'Edit a',
      kind: 'edit',
      status: 'completed',
      content: [{ type: 'diff', path: `${CWD}/a`, oldText: 'x', newText: 'y' }],
      locations: [{ path: `${CWD}/a` }],
    });
    const write = { kind: 'file_io', operation: 'write', path: `${CWD}/a`, content: 'new' };
    const input = { path: 'a', content: 'new' };
    expect(view({ name: 'Write', display: write, input }).content).toEqual([
      { type: 'diff', path: `${CWD}/a`, newText: 'new' },
    ]);
    expect(view({ name: 'Write', display: write, input: { ...input, mode: 'append' } }).content).toEqual([
      { type: 'diff', path: `${CWD}/a`, oldText: '', newText: 'new' },
    ]);
    expect(view({ name: 'Write', display: write, input, state: 'error', output: 'denied' }).content).toEqual([
      { type: 'diff', path: `${CWD}/a`, newText: 'new' },
      ...text('```\ndenied\n```'),
    ]);
  });

  it('shows the last line of subagents, and images of a result', () => {
    expect(view({ name: 'Agent', input: {} }, ['Reading a.ts']).content).toEqual(text('Reading a.ts'));
    expect(view({ name: 'Agent', input: {}, state: 'done', output: 'long' }, []).content).toEqual([]);
    const output = [
      { type: 'text', text: 'one' },
      { type: 'image_url', imageUrl: { url: 'data:image/png;base64,AAAA' } },
      { type: 'image_url', imageUrl: { url: 'https://example.com/x.png' } },
      7,
    ];
    expect(view({ name: 'mcp__a__b', input: {}, state: 'done', output }).content).toEqual([
      ...text('```\none\n```'),
      { type: 'content', content: { type: 'image', mimeType: 'image/png', data: 'AAAA' } },
    ]);
  });

  it('tolerates displays and outputs of unknown kinds', () => {
    expect(view({ name: 'New', display: { kind: 'new' }, input: {}, state: 'done', output: { a: 1 } })).toMatchObject({
      title: 'New',
      kind: 'other',
      content: [],
    });
  });

  it('replaces half characters, and shortens titles', () => {
    const display = { kind: 'command', command: `${'x'.repeat(199)}😀${'y'.repeat(50)}` };
    const { title } = view({ display, input: {} });
    expect(title).toBe(`${'x'.repeat(199)}\uFFFD…`);
  });
});
