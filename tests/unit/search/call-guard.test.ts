import { afterEach, expect, it } from 'vitest';
import { newCallState, stopCalls } from '#server/search/call-guard.ts';
import { createThread, type Thread } from '#server/threads/thread.ts';
import { eventually } from '#support/patience.ts';

let thread: Thread | undefined;
afterEach(() => thread?.close());

it('waits at the end of the process for the call that runs, and lets no other begin', async () => {
  const state = newCallState();
  const progress = new Int32Array(new SharedArrayBuffer(8));
  thread = createThread({
    name: 'guard',
    program: () => import('./fixtures/guard-program.ts?thread'),
    workerData: () => ({ state, progress }),
  });
  const later = thread.request('call twice');
  await eventually(() => expect(Atomics.load(progress, 0)).toBe(1));
  expect(Atomics.load(progress, 1)).toBe(0);
  stopCalls(state);
  // The first call has ended.
  expect(Atomics.load(progress, 1)).toBe(1);
  await expect(later).rejects.toThrow('the process is ending');
  expect(Atomics.load(progress, 0)).toBe(1);
});

it('does not wait without a call', () => {
  const state = newCallState();
  stopCalls(state);
  stopCalls(state);
});
