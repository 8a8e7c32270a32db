import { describe, expect, it } from 'vitest';
import { createPromptQueue, promptView, type QueuedPrompt } from '#server/agent/prompt-queue.ts';

const prompt = (id: string): QueuedPrompt => ({
  id,
  createdAt: 0,
  input: { content: [{ type: 'text', text: id }], eventContent: [], parts: [], text: id, attachments: [] },
});
const inUse = (id: string) => expect.objectContaining({ code: 40927, message: `prompt_id '${id}' is already in use` });
const completed = (id: string) =>
  expect.objectContaining({ code: 40903, message: `prompt ${id} already completed`, data: { aborted: false } });

function thrown(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('an id', () => {
  it('is in use from its reservation to its end, then used for good', () => {
    const queue = createPromptQueue(() => false);
    queue.reserve('a');
    expect(thrown(() => queue.reserve('a'))).toEqual(inUse('a'));
    queue.add(prompt('a'));
    expect(thrown(() => queue.reserve('a'))).toEqual(inUse('a'));
    expect(queue.activateNext()?.id).toBe('a');
    expect(thrown(() => queue.reserve('a'))).toEqual(inUse('a'));
    queue.settle('a');
    expect(thrown(() => queue.reserve('a'))).toEqual(completed('a'));
  });

  it('of a failed submit is free again; one of the history is not', () => {
    const queue = createPromptQueue((id) => id === 'old');
    queue.reserve('a');
    queue.release('a');
    queue.reserve('a');
    expect(thrown(() => queue.reserve('old'))).toEqual(completed('old'));
  });
});

describe('the order', () => {
  it('is that of arrival', () => {
    const queue = createPromptQueue(() => false);
    for (const id of ['a', 'b', 'c']) queue.add(prompt(id));
    expect(queue.activateNext()?.id).toBe('a');
    expect(queue.waiting().map(({ id }) => id)).toEqual(['b', 'c']);
    expect(queue.drain().map(({ id }) => id)).toEqual(['b', 'c']);
    expect(queue.waiting()).toEqual([]);
  });
});

describe('an abort', () => {
  it('knows the active, the waiting, the settled and the unknown', () => {
    const queue = createPromptQueue(() => true);
    for (const id of ['a', 'b']) queue.add(prompt(id));
    queue.activateNext();
    expect(queue.abort('a')).toBe('active');
    expect(queue.abort('a')).toBe('active');
    expect(queue.abort('b')).toBe('removed');
    expect(thrown(() => queue.abort('b'))).toEqual(completed('b'));
    expect(thrown(() => queue.abort('c'))).toMatchObject({ code: 40402, message: 'prompt c not found', data: null });
  });

  it('remembers the last 1000 settled ids', () => {
    const queue = createPromptQueue(() => false);
    for (let i = 0; i <= 1000; i++) queue.settle(`p${i}`);
    expect(thrown(() => queue.abort('p0'))).toMatchObject({ code: 40402 });
    expect(thrown(() => queue.abort('p1'))).toMatchObject({ code: 40903 });
  });
});

it('shows a prompt as replies and lists do', () => {
  expect(promptView(prompt('a'), 'queued')).toEqual({
    prompt_id: 'a',
    user_message_id: 'a',
    status: 'queued',
    content: [{ type: 'text', text: 'a' }],
    created_at: '1970-01-01T00:00:00.000Z',
  });
});
