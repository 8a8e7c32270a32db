/** Passes of a pump: one at a time, changes share the next one. */
import { expect, it } from 'vitest';
import { createPump } from '../../../clients/acp/pump.ts';

it('runs one pass at a time, and one more for all changes of its time', async () => {
  const ends: (() => void)[] = [];
  let passes = 0;
  const pump = createPump(() => {
    passes += 1;
    return new Promise((resolve) => ends.push(resolve));
  });
  pump.poke();
  pump.poke();
  const flushed = pump.flushed();
  let isFlushed = false;
  void flushed.then(() => (isFlushed = true));
  expect(passes).toBe(1);
  ends[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect([passes, isFlushed]).toEqual([2, false]);
  ends[1]?.();
  await flushed;
  expect(passes).toBe(2);
  pump.poke();
  expect(passes).toBe(3);
});
