/** Messages of the journal as clients receive them. */
import { describe, expect, it } from 'vitest';
import { messageOf, shownMessage } from '#server/journal/message-view.ts';
import { event, internal } from '#server/journal/records.ts';
import { storedMediaUrl } from '#server/journal/stored-media.ts';
import type { ContextMessage, Part, ToolOutput } from '#schema/engine.ts';

const text = (content: string): Part => ({ type: 'text', text: content });
const call = { id: 'c', name: 'Bash', arguments: '{"command":"ls"}' };
const assistant = (content: Part[], toolCalls: ContextMessage['toolCalls'] = []): ContextMessage => ({
  role: 'assistant',
  content,
  toolCalls,
});
const empty = assistant([]);

describe('the message in a record', () => {
  it('of a splice is that of its index', () => {
    const messages = [assistant([text('a')]), assistant([text('b')])];
    const record = event(
      'main',
      'context.spliced',
      { start: 0, deleteCount: 0, messages, tokens: 0 },
      { cause: 'input' },
    );
    expect(messageOf(record)).toBe(messages[0]);
    expect(messageOf(record, 1)).toBe(messages[1]);
    expect(messageOf(record, 2)).toEqual(empty);
  });

  it('of a response has its calls, unless the response broke off', () => {
    const fields = { turnId: 0, step: 1, stepId: 's', parts: [text('a')], calls: [call], model: 'm' };
    expect(messageOf(internal('main', 'step.response', fields))).toEqual(assistant([text('a')], [call]));
    const partial = internal('main', 'step.response', { ...fields, partial: true });
    expect(messageOf(partial)).toEqual(assistant([text('a')]));
  });

  it('of a result names its call and whether it failed', () => {
    const result = (more: { isError?: true }) =>
      messageOf(event('main', 'tool.result', { turnId: 0, toolCallId: 'c', output: 'out', ...more }));
    const message = { role: 'tool', content: [text('out')], toolCalls: [], toolCallId: 'c' };
    expect(result({})).toStrictEqual(message);
    expect(result({ isError: true })).toStrictEqual({ ...message, isError: true });
  });

  it('of a step without a response, and of no record, is empty', () => {
    expect(messageOf(event('main', 'turn.step.started', { turnId: 0, step: 1, stepId: 's' }))).toEqual(empty);
    expect(messageOf(undefined)).toEqual(empty);
  });
});

describe('the parts that clients receive', () => {
  const shown = (part: Part) => shownMessage(assistant([part])).content;
  it.each<[Part, object]>([
    [text('a'), { type: 'text', text: 'a' }],
    [
      { type: 'think', think: 'a' },
      { type: 'thinking', thinking: 'a' },
    ],
    [
      { type: 'think', think: 'a', encrypted: 'b' },
      { type: 'thinking', thinking: 'a', signature: 'b' },
    ],
    [
      { type: 'image_url', imageUrl: { url: 'https://x/a', id: 'i' } },
      { type: 'image', source: { kind: 'url', url: 'https://x/a', id: 'i' } },
    ],
    [
      { type: 'video_url', videoUrl: { url: 'https://x/a' } },
      { type: 'video', source: { kind: 'url', url: 'https://x/a' } },
    ],
    [
      { type: 'image_url', imageUrl: { url: storedMediaUrl('m1'), id: 'i' } },
      { type: 'image', source: { kind: 'session_media', file_id: 'm1' } },
    ],
    [
      { type: 'audio_url', audioUrl: { url: 'https://x/a' } },
      { type: 'text', text: '[audio:https://x/a]' },
    ],
  ])('%j', (part, expected) => {
    expect(shown(part)).toStrictEqual([expected]);
  });

  it('have calls after them, with their arguments as JSON', () => {
    const { content, metadata } = shownMessage(assistant([text('a')], [call]));
    const use = { type: 'tool_use', tool_call_id: 'c', tool_name: 'Bash', input: { command: 'ls' } };
    expect(content).toStrictEqual([{ type: 'text', text: 'a' }, use]);
    expect(metadata).toBeUndefined();
  });

  it('have the origin of the message', () => {
    const message: ContextMessage = { role: 'user', content: [], toolCalls: [], origin: { kind: 'user' } };
    expect(shownMessage(message)).toStrictEqual({ content: [], metadata: { origin: { kind: 'user' } } });
  });

  it('of a result are one: joined text, or the parts if one is no text', () => {
    const result = (content: Exclude<ToolOutput, string>, more: { isError?: true; toolCallId?: string } = {}) =>
      shownMessage({ role: 'tool', content, toolCalls: [], toolCallId: 'c', ...more }).content;
    const shownResult = { type: 'tool_result', tool_call_id: 'c' };
    expect(result([text('a'), text('b')])).toStrictEqual([{ ...shownResult, output: 'ab' }]);
    expect(result([])).toStrictEqual([{ ...shownResult, output: '' }]);
    const image: Part = { type: 'image_url', imageUrl: { url: 'https://x/a' } };
    expect(result([text('a'), image], { isError: true })).toStrictEqual([
      { ...shownResult, output: [text('a'), image], is_error: true },
    ]);
    const nameless = shownMessage({ role: 'tool', content: [], toolCalls: [] }).content;
    expect(nameless).toStrictEqual([{ type: 'tool_result', tool_call_id: '', output: '' }]);
  });
});
