import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Connection } from '@service-code/client';
import { watchFiles } from '../../../web/features/workspace/watch.ts';
import { createFakeSocket } from './fake-socket.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function openWatch(connection: Connection = { kind: 'open' }) {
  const requests: string[] = [];
  const { socket, send, report } = createFakeSocket((type) => {
    requests.push(type);
    // The replies are not checked.
    return Promise.resolve() as Promise<never>;
  }, connection);
  const told: (readonly string[] | undefined)[] = [];
  const stop = watchFiles({ socket }, 'session_1', (paths) => void told.push(paths));
  const change = (paths: string[], more: { truncated?: true; session_id?: string } = {}) =>
    send({
      type: 'event.fs.changed',
      seq: 1,
      session_id: more.session_id ?? 'session_1',
      timestamp: '',
      volatile: true,
      payload: {
        changes: paths.map((path) => ({ path, change: 'modified', kind: 'file' })),
        coalesced_window_ms: 200,
        ...(more.truncated && { truncated: true, count: 501 }),
      },
    });
  return { requests, told, stop, change, reconnect: () => report({ kind: 'open' }) };
}

it('reports a change immediately, then at most once a second', async () => {
  const { requests, told, change } = openWatch();
  await vi.advanceTimersByTimeAsync(0);
  expect(requests).toEqual(['watch_fs_add']);
  expect(told).toEqual([undefined]);
  change(['a']);
  change(['b', 'a']);
  change(['c'], { session_id: 'session_2' });
  expect(told).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(told.slice(1)).toEqual([['a', 'b']]);
  await vi.advanceTimersByTimeAsync(5000);
  change(['d']);
  expect(told.slice(2)).toEqual([['d']]);
  change(['e']);
  change([], { truncated: true });
  await vi.advanceTimersByTimeAsync(1000);
  expect(told.slice(3)).toEqual([undefined]);
});

it('watches again over a new connection, and reports nothing after its close', async () => {
  const { requests, told, stop, change, reconnect } = openWatch({ kind: 'connecting' });
  expect(requests).toEqual([]);
  reconnect();
  reconnect();
  expect(requests).toEqual(['watch_fs_add', 'watch_fs_add']);
  stop();
  await vi.advanceTimersByTimeAsync(5000);
  change(['a']);
  expect(told).toEqual([]);
});
