import { expect, test } from 'vitest';
import { coalesced, createCoalescer } from '#server/async/coalesce.ts';

/** Numbered runs that the test settles. */
function openRuns() {
  const ends: ((how: 'well' | 'badly') => void)[] = [];
  const run = coalesced(() => {
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

test('runs of keys are coalesced by key, and the latest one of a key is the waiting one', async () => {
  const runs = createCoalescer<string>();
  const ends = new Map<string, () => void>();
  const call = (key: string, name: string) =>
    runs.run(key, () => new Promise<string>((resolve) => ends.set(name, () => resolve(name))));
  expect(runs.latest('a')).toBeUndefined();
  const first = call('a', 'first');
  expect(runs.latest('a')).toBe(first);
  const [second, shared] = [call('a', 'second'), call('a', 'shared')];
  expect(shared).toBe(second);
  expect(runs.latest('a')).toBe(second);
  const other = call('b', 'other');
  expect([...ends.keys()]).toEqual(['first', 'other']);
  ends.get('first')?.();
  expect(await first).toBe('first');
  expect([...ends.keys()]).toEqual(['first', 'other', 'second']);
  // The second run is the current one now: its end must not drop the one that waits for it.
  const third = call('a', 'third');
  ends.get('second')?.();
  expect(await shared).toBe('second');
  expect(call('a', 'late')).not.toBe(third);
  ends.get('third')?.();
  expect(await third).toBe('third');
  ends.get('late')?.();
  ends.get('other')?.();
  expect(await other).toBe('other');
  await runs.latest('a');
  expect([runs.latest('a'), runs.latest('b')]).toEqual([undefined, undefined]);
});

test('a call right after a run has ended starts a run of its own, never two at a time', async () => {
  const runs = createCoalescer<number>();
  let running = 0;
  let most = 0;
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    return running;
  };
  const calls: Promise<number>[] = [];
  for (let turn = 0; turn < 50; turn += 1) {
    calls.push(runs.run('a', work));
    await Promise.resolve();
  }
  await Promise.all(calls);
  expect(most).toBe(1);
});
