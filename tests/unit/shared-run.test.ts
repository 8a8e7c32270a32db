import { expect, test } from 'vitest';
import { createSharedRun } from '#server/shared-run.ts';

/** Runs that end when they are told to, each with its number. */
function openRuns() {
  const ends: ((how: 'well' | 'badly') => void)[] = [];
  const run = createSharedRun(() => {
    const number = ends.length + 1;
    return new Promise<number>((resolve, reject) => {
      ends.push((how) => (how === 'well' ? resolve(number) : reject(new Error(`run ${number}`))));
    });
  });
  return { run, ends };
}

test('who comes while it runs shares the next run, which begins behind this one', async () => {
  const { run, ends } = openRuns();
  const first = run();
  const others = [run(), run(), run()];
  expect(ends).toHaveLength(1);
  ends[0]?.('well');
  expect(await first).toBe(1);
  expect(ends).toHaveLength(2);
  const late = run();
  ends[1]?.('well');
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  ends[2]?.('well');
  expect(await late).toBe(3);
  const alone = run();
  expect(ends).toHaveLength(4);
  ends[3]?.('well');
  expect(await alone).toBe(4);
});

test('a run that fails has failed for those who shared it, and for nobody else', async () => {
  const { run, ends } = openRuns();
  const first = run();
  const [second, shared] = [run(), run()];
  ends[0]?.('badly');
  await expect(first).rejects.toThrow('run 1');
  ends[1]?.('badly');
  await expect(second).rejects.toThrow('run 2');
  await expect(shared).rejects.toThrow('run 2');
  const third = run();
  ends[2]?.('well');
  expect(await third).toBe(3);
});
