import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { waitAtMost } from '#server/async/wait-at-most.ts';

/** Blocks the event loop. */
function hold(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('resolves when the promise resolves or rejects', async () => {
  await waitAtMost(60_000, Promise.resolve());
  await waitAtMost(60_000, Promise.reject(new Error('gone')));
});

test('resolves when its time is over', async () => {
  await waitAtMost(1, new Promise(() => undefined));
});

test('I/O queued while the event loop was blocked wins over the timeout', async () => {
  let came = false;
  const waited = waitAtMost(
    1,
    stat('.').then(() => (came = true)),
  );
  hold(100);
  await waited;
  expect(came).toBe(true);
});
