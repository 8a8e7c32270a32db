import { expect, test } from 'vitest';
import { createSharedRun } from '#server/async/coalesce.ts';

/** Numbered runs that the test settles. */
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

test('calls during a run share the next run, which starts after it', async () => {
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

test('a failed run rejects only for its callers', async () => {
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
