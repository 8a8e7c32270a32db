import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPromptQueue } from '#server/agent/scheduling/prompt-queue.ts';
import { event } from '#server/journal/records.ts';
import { openLog, temporaryFolder, type OpenedLog } from '#support/session-logs.ts';
import type { PromptQueue, QueuedPrompt } from '#server/agent/contract/prompts.ts';

const CREATED = '2026-01-02T03:04:05.678Z';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let opened: OpenedLog;
let queue: PromptQueue;
beforeEach(async () => {
  folder = await temporaryFolder();
  opened = await openLog(folder.path);
  await opened.log.claim();
  queue = createPromptQueue(opened.log, 'main');
});
afterEach(async () => {
  await opened.log.close();
  await folder.remove();
});

const prompt = (id: string): QueuedPrompt => ({
  id,
  origin: { kind: 'user' },
  createdAt: 0,
  input: { content: [{ type: 'text', text: id }], eventContent: [], parts: [], text: id, attachments: [] },
});

function accept(id: string, waits: boolean): void {
  queue.keep(prompt(id));
  const status = waits ? ('queued' as const) : ('running' as const);
  const submitted = { promptId: id, userMessageId: id, status, content: [], createdAt: CREATED };
  opened.log.append([
    event('main', 'prompt.submitted', submitted),
    waits
      ? event('main', 'prompt.queued', { promptId: id, content: [], queueLength: 1 })
      : event('main', 'turn.started', { turnId: 0, promptId: id, origin: { kind: 'user' } }),
  ]);
}
const complete = (promptId: string) =>
  opened.log.append([event('main', 'prompt.completed', { promptId, finishedAt: CREATED, reason: 'completed' })]);

const inUse = (id: string) => expect.objectContaining({ code: 40927, message: `prompt_id '${id}' is already in use` });
const completed = (id: string) =>
  expect.objectContaining({ code: 40903, message: `prompt ${id} already completed`, data: { aborted: false } });

describe('an id', () => {
  it('is in use from its reservation until it settles, then used permanently', () => {
    queue.reserve('a');
    expect(() => queue.reserve('a')).toThrow(inUse('a'));
    accept('a', true);
    expect(() => queue.reserve('a')).toThrow(inUse('a'));
    expect(queue.next()?.id).toBe('a');
    complete('a');
    expect(() => queue.reserve('a')).toThrow(completed('a'));
  });

  it('of a failed submit is free again; one of the history is not', async () => {
    queue.reserve('a');
    queue.release('a');
    queue.reserve('a');
    accept('old', false);
    complete('old');
    await opened.log.close();
    opened = await openLog(folder.path);
    expect(() => createPromptQueue(opened.log, 'main').reserve('old')).toThrow(completed('old'));
  });
});

it('prompts are in order of arrival', () => {
  accept('a', false);
  for (const id of ['b', 'c']) accept(id, true);
  expect(queue.active()?.prompt_id).toBe('a');
  expect(queue.waiting().map(({ prompt_id }) => prompt_id)).toEqual(['b', 'c']);
  expect(queue.next()?.id).toBe('b');
  complete('a');
  expect(queue.active()).toBeNull();
});

it('an abort distinguishes the active, the waiting, the settled and the unknown', () => {
  accept('a', false);
  accept('b', true);
  expect(queue.abortable('a')).toBe('active');
  expect(queue.abortable('b')).toBe('waiting');
  opened.log.append([event('main', 'prompt.aborted', { promptId: 'b', abortedAt: CREATED })]);
  expect(() => queue.abortable('b')).toThrow(completed('b'));
  expect(() => queue.abortable('c')).toThrow(
    expect.objectContaining({ code: 40402, message: 'prompt c not found', data: null }),
  );
});

it('returns a prompt as replies and lists do, also without its content', () => {
  accept('a', true);
  const shown = { prompt_id: 'a', user_message_id: 'a', status: 'queued', created_at: CREATED };
  expect(queue.waiting()).toEqual([{ ...shown, content: [{ type: 'text', text: 'a' }] }]);
  queue.forget('a');
  expect(queue.waiting()).toEqual([{ ...shown, content: [] }]);
});
