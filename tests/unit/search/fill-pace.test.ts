import { expect, it } from 'vitest';
import { createFillPace } from '#server/search/fill-pace.ts';

it('rests as long as the work since the last rest took, without what it waits for', async () => {
  let time = 0;
  const rests: number[] = [];
  const pace = createFillPace(
    () => time,
    async (ms) => {
      rests.push(ms);
      // A busy machine wakes it late, which is no work.
      time += ms + 1;
    },
  );
  const after = (ms: number, meanwhile = 0) => {
    time += ms;
    return pace(async () => {
      time += meanwhile;
    });
  };
  await after(30);
  await after(500);
  expect(rests).toEqual([30, 500]);
  // Several short parts have one rest.
  await after(4, 1_000);
  await after(4);
  expect(rests).toHaveLength(2);
  await after(4, 1_000);
  expect(rests).toEqual([30, 500, 12]);
  await after(11);
  expect(rests).toEqual([30, 500, 12, 11]);
});
