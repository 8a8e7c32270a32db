import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createThread, type Thread, type ThreadOptions } from '#server/threads/thread.ts';
import program from './fixtures/test-program.ts?thread';

let messages: unknown[];
let deaths: Error[];
let threads: Thread[];

beforeEach(() => {
  messages = [];
  deaths = [];
  threads = [];
});
afterEach(() => Promise.all(threads.map((thread) => thread.close())));

function open(more: Partial<ThreadOptions> = {}): Thread {
  const thread = createThread({
    name: 'test',
    program,
    workerData: () => 7,
    onMessage: (message) => void messages.push(message),
    onDeath: (error) => void deaths.push(error),
    ...more,
  });
  threads.push(thread);
  return thread;
}

describe('a thread', () => {
  it('answers requests, each with its own answer', async () => {
    const thread = open();
    const answers = await Promise.all([thread.ask({ later: 'a' }), thread.ask('b'), thread.ask('c')]);
    expect(answers).toEqual(['a', 'b', 'c']);
    expect(await thread.ask('data')).toBe(7);
  });

  it('rejects with the error of its program, with name and details', async () => {
    const thread = open();
    await expect(thread.ask('refuse')).rejects.toMatchObject({
      name: 'validation.failed',
      message: 'field: no',
      details: [{ path: 'field', message: 'no' }],
    });
    await expect(thread.ask('fail')).rejects.toThrow('it failed');
  });

  it('passes messages that are no answers, in both directions', async () => {
    const thread = open();
    expect(thread.tell('before its start')).toBe(false);
    await thread.ask('a');
    expect(thread.tell('hello')).toBe(true);
    await thread.ask('a');
    expect(messages).toEqual([{ received: 'hello' }]);
  });

  it('ends a request whose caller aborts, in the program too', async () => {
    const thread = open();
    const caller = new AbortController();
    const waiting = thread.ask('wait', caller.signal);
    await thread.ask('a');
    caller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await thread.ask('a');
    expect(messages).toEqual(['aborted']);
    await expect(thread.ask('a', caller.signal)).rejects.toThrow('gone');
  });

  it('rejects what waits when it dies, and starts again with the next request', async () => {
    const thread = open();
    const waiting = thread.ask('wait');
    waiting.catch(() => undefined);
    await expect(thread.ask('die')).rejects.toMatchObject({ name: 'internal.error' });
    await expect(waiting).rejects.toMatchObject({ message: 'the test thread ended' });
    expect(deaths).toHaveLength(1);
    expect(await thread.ask('again')).toBe('again');
  });

  it('survives running out of memory like any death', async () => {
    const thread = open({ resourceLimits: { maxOldGenerationSizeMb: 16 } });
    await expect(thread.ask('exhaust')).rejects.toMatchObject({ name: 'internal.error' });
    expect(await thread.ask('again')).toBe('again');
  });

  it('refuses a request beyond 64 that wait', async () => {
    const thread = open();
    const waiting = Array.from({ length: 64 }, () => thread.ask('wait'));
    for (const each of waiting) each.catch(() => undefined);
    await expect(thread.ask('a')).rejects.toThrow('too many requests wait');
  });

  it('ends when it is closed, and refuses later requests', async () => {
    const thread = open();
    await thread.ask('a');
    await thread.close();
    expect(messages).toEqual(['closing']);
    expect(deaths).toEqual([]);
    await expect(thread.ask('a')).rejects.toThrow('closed');
  });
});
