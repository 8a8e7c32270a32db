import { describe, expect, it } from 'vitest';
import { toModelMessages } from '#server/models/request-history.ts';
import type { ContextMessage, Part } from '#schema/engine.ts';
import { PNG, user } from '#support/model-requests.ts';

const text = (value: string): Part => ({ type: 'text', text: value });
const image = (n: number): Part => ({ type: 'image_url', imageUrl: { url: `${PNG}#${n}` } });

function assistant(content: Part[], ...ids: string[]): ContextMessage {
  return { role: 'assistant', content, toolCalls: ids.map((id) => ({ id, name: 'Read', arguments: '{}' })) };
}

function result(id: string, output: string | Part[], more: Partial<ContextMessage> = {}): ContextMessage {
  const content = typeof output === 'string' ? [text(output)] : output;
  return { role: 'tool', content, toolCalls: [], toolCallId: id, ...more };
}

/** Role and text of each message, results with their id. */
function outline(messages: ContextMessage[]): string[] {
  return messages.map((message) => {
    const parts = message.content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`));
    return [message.role, message.toolCallId, ...parts].filter((word) => word !== undefined).join(' | ');
  });
}

describe('toModelMessages', () => {
  it('drops blank text and empty messages', () => {
    const history = [
      user('Hi'),
      assistant([text(' \n')]),
      assistant([{ type: 'think', think: ' ' }, text('')]),
      assistant([{ type: 'think', think: '', encrypted: 'sig' }]),
      assistant([text('\n'), text('Hello')]),
    ];
    expect(outline(toModelMessages(history))).toEqual(['user | Hi', 'assistant | (think)', 'assistant | Hello']);
  });

  it('moves results after their calls in call order, adds missing ones, drops orphans', () => {
    const history = [
      user('Go'),
      assistant([], 'a', 'b', 'c'),
      result('b', 'B'),
      user('meanwhile'),
      result('a', 'A'),
      result('z', 'orphan'),
    ];
    const projected = toModelMessages(history);
    expect(outline(projected).map((line) => line.slice(0, 8))).toEqual([
      'user | G',
      'assistan',
      'tool | a',
      'tool | b',
      'tool | c',
      'user | m',
    ]);
    expect(projected[4]).toMatchObject({ role: 'tool', toolCallId: 'c', isError: true });
    expect(outline(projected)[4]).toMatch(/^tool \| c \| <system>ERROR.*\n.*interrupted/);
  });

  it('renders a history identically whether or not its results are in order', () => {
    const [go, calls, A, B, so] = [
      user('go'),
      assistant([], 'a', 'b'),
      result('a', 'A'),
      result('b', 'B'),
      assistant([text('so')]),
    ];
    const told = ['user | go', 'assistant', 'tool | a | A', 'tool | b | B', 'assistant | so'];
    for (const history of [
      [go, calls, A, B, so],
      [go, calls, B, A, so],
      [go, calls, A, so, B],
      [go, A, calls, A, B, so],
      [go, calls, A, B, B, so],
      [go, calls, A, B, so, result('', 'nobody')],
    ]) {
      expect(outline(toModelMessages(history))).toEqual(told);
    }
    expect(outline(toModelMessages([go, calls, A, B]))).toEqual(told.slice(0, 4));
    expect(outline(toModelMessages([go, calls, A, B, calls, A, B]))).toEqual([
      ...told.slice(0, 4),
      ...told.slice(1, 4),
    ]);
    expect(outline(toModelMessages([go, assistant([], 'a', 'a'), A, A]))).toEqual([
      'user | go',
      'assistant',
      'tool | a | A',
      'tool | a | A',
    ]);
  });

  it('matches each of two calls with the same id with its own result', () => {
    const history = [assistant([], 'a'), assistant([], 'a'), result('a', 'second')];
    const lines = outline(toModelMessages(history));
    expect(lines[1]).toContain('interrupted');
    expect(lines[3]).toBe('tool | a | second');
  });

  it('merges consecutive messages of the user: texts, then media', () => {
    const reminder: ContextMessage = { ...user('Monday'), origin: { kind: 'injection', variant: 'date_change' } };
    const history = [
      { ...user('One'), content: [text('One'), image(1)] },
      { ...user('Two'), content: [image(2), text('Two')] },
      reminder,
      user('Three'),
    ];
    const projected = toModelMessages(history);
    expect(outline(projected)).toEqual([
      'user | One\n\nTwo | (image_url) | (image_url)',
      'user | Monday',
      'user | Three',
    ]);
  });

  it('renders failures, empty output and notes', () => {
    const history = [
      assistant([], 'a', 'b', 'c', 'd'),
      result('a', 'boom', { isError: true, note: '<system>exit 1</system>' }),
      result('b', '  '),
      result('c', 'fine', { note: '<system>3 lines</system>' }),
      result('d', [image(1)], { isError: true, note: '<system>note</system>' }),
    ];
    const projected = toModelMessages(history);
    expect(outline(projected).slice(1)).toEqual([
      'tool | a | <system>ERROR: the tool call failed.</system>\nboom\n<system>exit 1</system>',
      'tool | b | <system>The tool returned no output.</system>',
      'tool | c | fine\n<system>3 lines</system>',
      'tool | d | <system>ERROR: the tool call failed.</system> | (image_url) | <system>note</system>',
    ]);
    expect(projected.some((message) => 'note' in message)).toBe(false);
  });

  it('degrades to the two latest media, strips all, and keeps media after the cut', () => {
    const history = [1, 2, 3].map((n) => ({ ...user(`p${n}`), content: [image(n)], origin: undefined }));
    const kinds = (options: Parameters<typeof toModelMessages>[1]) =>
      toModelMessages(history, options).map((message) => message.content[0]?.type);
    expect(kinds({ media: 'degraded' })).toEqual(['text', 'image_url', 'image_url']);
    expect(kinds({ media: 'stripped' })).toEqual(['text', 'text', 'text']);
    expect(kinds({ media: 'stripped', mediaCut: 2 })).toEqual(['text', 'text', 'image_url']);
  });

  it('strict: no repeated ids, no consecutive assistants, starts with the user', () => {
    const history = [
      assistant([text('before')]),
      user('Hi'),
      assistant([], 'a'),
      assistant([text('again')], 'a'),
      result('a', 'real'),
      assistant([text('x')]),
      assistant([text('y')]),
    ];
    expect(outline(toModelMessages(history, { strict: true }))).toEqual([
      'user | Hi',
      'assistant',
      'tool | a | real',
      'assistant | again | x | y',
    ]);
  });

  it('does not mutate its input and returns the same bytes again', () => {
    const history = [user('Hi'), user('there'), assistant([text('')], 'a'), result('a', 'x', { isError: true })];
    const before = JSON.stringify(history);
    const first = JSON.stringify(toModelMessages(history));
    expect(JSON.stringify(toModelMessages(history))).toBe(first);
    expect(JSON.stringify(history)).toBe(before);
  });
});
