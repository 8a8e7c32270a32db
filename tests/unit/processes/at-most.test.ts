import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { atMost } from '#server/processes/at-most.ts';

/** Holds the event loop. */
function hold(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('settles with what it waits for, and with its failure', async () => {
  await atMost(60_000, Promise.resolve());
  await atMost(60_000, Promise.reject(new Error('gone')));
});

test('settles when its time is over', async () => {
  await atMost(1, new Promise(() => undefined));
});

test('what came while the loop was held up counts', async () => {
  let came = false;
  const waited = atMost(
    1,
    stat('.').then(() => (came = true)),
  );
  hold(100);
  await waited;
  expect(came).toBe(true);
});
