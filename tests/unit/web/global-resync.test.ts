import { expect, it } from 'vitest';
import { onGlobalResync } from '@service-code/client';
import { createFakeSocket } from './fake-socket.ts';
import { eventually } from '#support/patience.ts';

const notice = (session_id: string) => ({
  type: 'resync_required' as const,
  timestamp: '2026-01-01T00:00:00.000Z',
  payload: { session_id, reason: 'buffer_overflow' as const, current_seq: 7 },
});

function reader() {
  const { socket, send } = createFakeSocket(() => Promise.reject(new Error('no request')));
  const reads: (() => void)[] = [];
  const stop = onGlobalResync(socket, () => new Promise((resolve) => void reads.push(resolve)));
  const resync = (stream = '__global__') => send(notice(stream));
  return { reads, resync, stop };
}

it('reads after a notice of the global stream only', () => {
  const { reads, resync } = reader();
  resync('session_1');
  expect(reads).toHaveLength(0);
  resync();
  expect(reads).toHaveLength(1);
});

it('reads once more for any number of notices during a read', async () => {
  const { reads, resync } = reader();
  for (let count = 0; count < 5; count++) resync();
  expect(reads).toHaveLength(1);
  reads[0]?.();
  await eventually(() => expect(reads).toHaveLength(2));
  reads[1]?.();
  // A third read would be started before this turn of the event loop ends.
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toHaveLength(2);
  resync();
  expect(reads).toHaveLength(3);
});

it('stops', () => {
  const { reads, resync, stop } = reader();
  stop();
  resync();
  expect(reads).toHaveLength(0);
});
