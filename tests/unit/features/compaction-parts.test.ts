/**
 * Decisions of a compaction that need no model: when it is due, which messages are retained, how a request is
 * shortened.
 */
import { describe, expect, it, test } from 'vitest';
import { textHead, textTail } from '#server/features/compaction/cut.ts';
import { exceedsKept, keptMessages } from '#server/features/compaction/kept.ts';
import { recentMessages, withoutOldest } from '#server/features/compaction/recent.ts';
import { createObservedWindows, isFull, isOverflow } from '#server/features/compaction/window.ts';
import { estimateMessages } from '#server/journal/token-estimate.ts';
import { ModelError, type ModelErrorDetails } from '#server/models/types.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';
import { textOf } from '#support/agent-session.ts';

const said = (text: string, origin: Origin = { kind: 'user' }): ContextMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
  toolCalls: [],
  origin,
});
const answered = (text: string, ...calls: string[]): ContextMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  toolCalls: calls.map((id) => ({ id, name: 'Read', arguments: '{}' })),
});
const result = (toolCallId: string, text: string): ContextMessage => ({
  role: 'tool',
  content: [{ type: 'text', text }],
  toolCalls: [],
  toolCallId,
});
/** Returns a text of the given number of tokens. */
const tokens = (count: number, letter = 'x') => letter.repeat(count * 4);

describe('a context is full', () => {
  const ratio = (triggerRatio: number, reserved?: number) => ({ triggerRatio, reserved });

  test.each([
    ['below both bounds', 74_999, 100_000, ratio(0.85), false],
    ['at the reserve of a quarter', 75_000, 100_000, ratio(0.85), true],
    ['below the ratio without a reserve', 84_999, 100_000, ratio(0.85, 0), false],
    ['at the ratio', 85_000, 100_000, ratio(0.85, 0), true],
    ['at another ratio', 50_000, 100_000, ratio(0.5, 0), true],
    ['above the largest reserve of a large window', 949_999, 1_000_000, ratio(0.99), false],
    ['at the largest reserve of a large window', 950_000, 1_000_000, ratio(0.99), true],
    ['below a reserve of the configuration', 89_999, 100_000, ratio(0.99, 10_000), false],
    ['at a reserve of the configuration', 90_000, 100_000, ratio(0.99, 10_000), true],
    ['a reserve as large as the window counts for nothing', 84_999, 100_000, ratio(0.85, 100_000), false],
    ['of an unknown window', 1_000_000, 0, ratio(0.85), false],
  ])('%s', (_name, size, window, limits, full) => {
    expect(isFull(size, window, limits)).toBe(full);
  });
});

describe('a refused request', () => {
  const error = (facts: Partial<ModelErrorDetails>) =>
    new ModelError('no', { code: 'provider.api_error', name: 'APIStatusError', retry: false, ...facts });

  it('is too long by its code, or by its status from half of the window on', () => {
    expect(isOverflow(error({ code: 'context.overflow' }), 1, 100)).toBe(true);
    expect(isOverflow(error({ statusCode: 413 }), 49, 100)).toBe(false);
    expect(isOverflow(error({ statusCode: 413 }), 50, 100)).toBe(true);
    expect(isOverflow(error({ statusCode: 400 }), 99, 100)).toBe(false);
  });

  it('lowers the window of its model, and never raises it again', () => {
    const windows = createObservedWindows();
    expect(windows.of('a', 100)).toBe(100);
    windows.refused('a', 100);
    expect(windows.of('a', 100)).toBe(85);
    windows.refused('a', 200);
    expect(windows.of('a', 100)).toBe(85);
    expect(windows.of('a', 50)).toBe(50);
    expect(windows.of('a', 0)).toBe(85);
    expect(windows.of('b', 100)).toBe(100);
  });
});

describe('the retained messages', () => {
  it('are those of the user, in order', () => {
    const history = [
      said('one'),
      said('reminder', { kind: 'injection', variant: 'date_change' }),
      answered('answer', 'c1'),
      result('c1', 'output'),
      said('hook', { kind: 'hook_result', event: 'UserPromptSubmit' }),
      said('told', { kind: 'task', taskId: 't', status: 'completed', notificationId: 'n' }),
      said('old summary', { kind: 'compaction_summary' }),
      said('goal', { kind: 'system_trigger', name: 'goal_continuation' }),
      said('two'),
    ];
    const { messages, count, headCount } = keptMessages(history);
    expect(messages.map(({ message, from }) => [textOf(message), from])).toEqual([
      ['one', 0],
      ['two', 8],
    ]);
    expect([count, headCount]).toEqual([2, undefined]);
  });

  it('are all of them up to exactly 20 000 tokens', () => {
    const history = [said(tokens(9999)), said(tokens(9999))];
    expect(estimateMessages(history)).toBe(20_000);
    expect(keptMessages(history)).toMatchObject({ count: 2 });
    expect(exceedsKept(history)).toBe(false);
    const more = [...history, said('')];
    expect(exceedsKept(more)).toBe(true);
    expect(keptMessages(more)).toHaveProperty('headCount');
  });

  it('are the beginning and the end of a longer history, cut at the boundaries, with a reminder in between', () => {
    const history = Array.from({ length: 12 }, (_, n) => said(`${n} begins ${tokens(2500)} ends ${n}`));
    const { messages, count, headCount = 0 } = keptMessages(history);
    expect(count).toBe(messages.length - 1);
    const head = messages.slice(0, headCount);
    const tail = messages.slice(headCount + 1);
    expect(messages[headCount]).toMatchObject({ from: null, message: { origin: { variant: 'compaction_elision' } } });
    expect(head.map(({ from }) => from)).toEqual([0]);
    expect(textOf(head[0]?.message ?? said(''))).toMatch(/^0 begins x+…$/);
    expect(tail.map(({ from }) => from)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
    expect(textOf(tail[0]?.message ?? said(''))).toMatch(/^…x+ ends 4$/);
    const size = (kept: typeof messages) => estimateMessages(kept.map(({ message }) => message));
    expect(size(head)).toBeLessThanOrEqual(2000);
    expect(size(head)).toBeGreaterThan(1990);
    expect(size(tail)).toBeLessThanOrEqual(18_000);
    expect(size(tail)).toBeGreaterThan(17_980);
  });

  it('are both ends of a single long message', () => {
    const { messages, headCount } = keptMessages([said(`begin ${tokens(30_000)} end`)]);
    expect(headCount).toBe(1);
    expect(messages.map(({ from }) => from)).toEqual([0, null, 0]);
    expect(textOf(messages[0]?.message ?? said(''))).toMatch(/^begin /);
    expect(textOf(messages[2]?.message ?? said(''))).toMatch(/ end$/);
  });

  it('lose their media at a boundary, and the text of such a message is included a single time', () => {
    const pictures = Array.from({ length: 12 }, () => ({
      type: 'image_url' as const,
      imageUrl: { url: 'data:image/png;base64,AA==' },
    }));
    const { messages } = keptMessages([{ ...said('look'), content: [{ type: 'text', text: 'look' }, ...pictures] }]);
    expect(messages.map(({ message }) => message.content.map(({ type }) => type))).toEqual([['text'], ['text']]);
    expect(messages.map(({ from }) => from)).toEqual([0, null]);
  });
});

describe('parts of a text', () => {
  it.each([
    ['abc', 10, 'abc', 'abc'],
    [tokens(3), 2, 'xxxx…', '…xxxx'],
    ['日本語です', 3, '日本…', '…です'],
    ['😀😀😀', 3, '😀…', '…😀'],
    ['abc', 1, '', ''],
    ['', 0, '', ''],
  ])('%s in %i tokens', (text, count, head, tail) => {
    expect(textHead(text, count)).toBe(head);
    expect(textTail(text, count)).toBe(tail);
  });
});

describe('a shorter history', () => {
  it('is the newest messages that fit, and begins with no result', () => {
    const history = [said('old'), answered('calls', 'c1'), result('c1', tokens(20)), answered(tokens(20))];
    expect(recentMessages(history, 50).map(({ role }) => role)).toEqual(['assistant']);
    expect(recentMessages(history, 200)).toEqual(history);
    expect(withoutOldest(history).map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
    expect(withoutOldest(withoutOldest(history)).map(({ role }) => role)).toEqual(['assistant']);
  });

  it('cuts a message that would displace all others, such as the result of the last call', () => {
    const history = [said('do it'), answered('reads', 'c1'), result('c1', tokens(10_000))];
    const shorter = recentMessages(history, 1000);
    expect(shorter.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(estimateMessages(shorter)).toBeLessThanOrEqual(1000);
  });
});
