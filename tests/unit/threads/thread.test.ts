import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createThread, type Thread, type ThreadOptions } from '#server/threads/thread.ts';

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
    program: () => import('./fixtures/test-program.ts?thread'),
    workerData: () => 7,
    onMessage: (message) => void messages.push(message),
    onDeath: (error) => void deaths.push(error),
    ...more,
  });
  threads.push(thread);
  return thread;
}

describe('a time-out', () => {
  it('abandons the thread; the requests after it can be sent again, to another one', async () => {
    const thread = open();
    await thread.request('a');
    const [hung, other] = await Promise.allSettled([
      thread.request('loop', { timeoutMs: 100 }),
      thread.request('b', { timeoutMs: 100_000 }),
    ]);
    expect(hung).toMatchObject({ reason: { name: 'internal.error', reason: 'timeout' } });
    expect(other).toMatchObject({ reason: { name: 'internal.error', reason: 'replaced' } });
    if (hung.status === 'rejected') await hung.reason.threadEnded;
    expect(await thread.request('b')).toBe('b');
    expect(deaths).toEqual([]);
  });

  it('starts when the requests before it are answered', async () => {
    const thread = open();
    await thread.request('a');
    // Each takes 400 ms, all of them longer than the time-out of one.
    const all = Array.from({ length: 5 }, () => thread.request('busy', { timeoutMs: 1800 }));
    expect(await Promise.all(all)).toHaveLength(5);
  });

  it('is not started again by an answer to another request', async () => {
    const thread = open();
    await thread.request('a');
    const over = new AbortController();
    const waiting = thread.request('wait', { timeoutMs: 300 }).finally(() => over.abort());
    waiting.catch(() => undefined);
    while (!over.signal.aborted) await thread.request('b').catch(() => undefined);
    await expect(waiting).rejects.toMatchObject({ reason: 'timeout' });
  });
});

describe('a thread', () => {
  it('answers requests, each with its own answer', async () => {
    const thread = open();
    const answers = await Promise.all([thread.request({ later: 'a' }), thread.request('b'), thread.request('c')]);
    expect(answers).toEqual(['a', 'b', 'c']);
    expect(await thread.request('data')).toBe(7);
  });

  it('rejects with the error of its program, with name and details', async () => {
    const thread = open();
    await expect(thread.request('refuse')).rejects.toMatchObject({
      name: 'validation.failed',
      message: 'field: no',
      details: [{ path: 'field', message: 'no' }],
    });
    await expect(thread.request('fail')).rejects.toThrow('it failed');
  });

  it('passes messages that are no answers, in both directions', async () => {
    const thread = open();
    expect(thread.send('before its start')).toBe(false);
    const first = thread.request('a');
    // Its program is not loaded yet.
    expect(thread.send('early')).toBe(true);
    await first;
    expect(thread.send('hello')).toBe(true);
    await thread.request('a');
    expect(messages).toEqual([{ received: 'early' }, { received: 'hello' }]);
  });

  it('ends a request whose caller aborts, in the program too', async () => {
    const thread = open();
    const caller = new AbortController();
    const waiting = thread.request('wait', { signal: caller.signal });
    await thread.request('a');
    caller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await thread.request('a');
    expect(messages).toEqual(['aborted']);
    await expect(thread.request('a', { signal: caller.signal })).rejects.toThrow('gone');
  });

  it('rejects what waits when it dies, and starts again with the next request', async () => {
    const thread = open();
    const waiting = thread.request('wait');
    waiting.catch(() => undefined);
    await expect(thread.request('die')).rejects.toMatchObject({ name: 'internal.error' });
    await expect(waiting).rejects.toMatchObject({ message: 'the test thread ended' });
    expect(deaths).toHaveLength(1);
    expect(await thread.request('again')).toBe('again');
  });

  it('survives running out of memory like any death', async () => {
    const thread = open({ resourceLimits: { maxOldGenerationSizeMb: 16 } });
    await expect(thread.request('exhaust')).rejects.toMatchObject({ name: 'internal.error' });
    expect(await thread.request('again')).toBe('again');
  });

  it('refuses a request beyond 64 that wait', async () => {
    const thread = open();
    const waiting = Array.from({ length: 64 }, () => thread.request('wait'));
    for (const each of waiting) each.catch(() => undefined);
    await expect(thread.request('a')).rejects.toThrow('too many requests wait');
  });

  it('restores the code of an error of the system', async () => {
    await expect(open().request('missing')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('rejects a request that cannot be sent, which takes no slot', async () => {
    const thread = open();
    const refused = Array.from({ length: 64 }, () => thread.request(() => 'a function'));
    for (const each of refused) await expect(each).rejects.toThrow('could not be cloned');
    expect(await thread.request('a')).toBe('a');
  });

  it('loads its program again after a failure, and none after it was closed', async () => {
    let loads = 0;
    const program: ThreadOptions['program'] = () => {
      loads += 1;
      return loads === 1 ? Promise.reject(new Error('not loaded')) : import('./fixtures/test-program.ts?thread');
    };
    const thread = open({ program });
    await expect(thread.request('a')).rejects.toThrow('not loaded');
    expect(await thread.request('a')).toBe('a');
    const closing = open({ program });
    const late = closing.request('a');
    await closing.close();
    await expect(late).rejects.toThrow('closed');
  });

  it('is terminated in the middle of its work, and started again by the next request', async () => {
    const thread = open();
    // The first time while its program is being loaded.
    for (let time = 0; time < 2; time += 1) {
      const waiting = thread.request('loop');
      const terminated = thread.terminate();
      await expect(waiting).rejects.toMatchObject({ reason: 'ended' });
      await terminated;
    }
    expect(deaths).toEqual([]);
    expect(await thread.request('again')).toBe('again');
  });

  it('ends when it is closed, and refuses later requests', async () => {
    const thread = open();
    await thread.request('a');
    await thread.close();
    expect(messages).toEqual(['closing']);
    expect(deaths).toEqual([]);
    await expect(thread.request('a')).rejects.toThrow('closed');
  });
});
