import { describe, expect, it } from 'vitest';
import { BlobText, LONG_TEXT_BYTES } from '#server/journal/texts.ts';
import { estimateMessages, estimateText, estimateTools } from '#server/journal/token-estimate.ts';
import type { ContextMessage } from '#schema/engine.ts';

describe('the estimate of a text', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['\u007f', 1],
    ['\u0080', 1],
    ['é中', 2],
    ['abcde中文', 4],
    ['\u{1F600}', 1],
    ['\ud7ff\ue000', 2],
    ['\u{10FC00}\u{103FF}', 2],
  ])('%j is %i', (text, tokens) => expect(estimateText(text)).toBe(tokens));

  it('is a quarter of the bytes of a long one, in memory or not', () => {
    const bytes = LONG_TEXT_BYTES + 2;
    const tokens = Math.ceil(bytes / 4);
    expect(estimateText('é'.repeat(bytes / 2))).toBe(tokens);
    expect(estimateText(new BlobText('hash', bytes))).toBe(tokens);
    expect(estimateText(new BlobText('hash', 5))).toBe(2);
  });
});

describe('the estimate of messages', () => {
  const message = (more: Partial<ContextMessage>): ContextMessage => ({
    role: 'user',
    content: [],
    toolCalls: [],
    ...more,
  });
  const tools = [{ name: 'Read', description: 'reads', parameters: { type: 'object' } }];

  it.each<[string, Partial<ContextMessage>, number]>([
    ['an empty one', {}, 1],
    ['a longer role', { role: 'assistant' }, 3],
    ['text', { content: [{ type: 'text', text: 'abcde' }] }, 1 + 2],
    ['thinking, without its signature', { content: [{ type: 'think', think: 'abcde', encrypted: 'x'.repeat(99) }] }, 3],
    ['an image', { content: [{ type: 'image_url', imageUrl: { url: 'x'.repeat(99) } }] }, 2001],
    ['calls', { toolCalls: [{ id: 'x'.repeat(99), name: 'Read', arguments: 'abcde' }] }, 1 + 1 + 2],
    ['a call without arguments', { toolCalls: [{ id: '', name: 'Read', arguments: null }] }, 1 + 1],
    ['tools', { tools }, 1 + 1 + 2 + 5],
  ])('of %s', (_name, more, tokens) => {
    const messages = [message(more)];
    expect(estimateMessages(messages)).toBe(tokens);
    expect(estimateMessages([...messages, ...messages, message({})])).toBe(2 * tokens + 1);
  });

  it('of none is 0', () => expect(estimateMessages([]) + estimateTools([])).toBe(0));

  it('of tools is the sum of name, description and schema', () => {
    expect(estimateTools([...tools, ...tools])).toBe(2 * (1 + 2 + 5));
  });
});
