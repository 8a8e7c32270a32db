/** Differences between two reads are reported unless they overlap a write of this process. */
import { beforeEach, expect, it } from 'vitest';
import { createForeignChanges, type ForeignChanges } from '#server/workspaces/foreign-changes.ts';
import { manualClock } from '#support/manual-clock.ts';

let values: ForeignChanges<number>;
let reported: number[];
const clock = manualClock();

beforeEach(() => {
  reported = [];
  values = createForeignChanges<number>({ clock, changed: (_before, after) => void reported.push(after) });
});

const read = (value: number, key = 'a') => values.read(key, async () => value);

/** A read or write that the test settles. */
function held<T>(value: T) {
  let end = () => {};
  const done = new Promise<T>((resolve) => (end = () => resolve(value)));
  return { work: () => done, end };
}

it('reports a value that differs from the previous one of the same key', async () => {
  await read(1);
  await read(2, 'b');
  await read(1);
  expect(reported).toEqual([]);
  await read(3);
  expect(reported).toEqual([3]);
});

it('does not compare reads during a write or across its end', async () => {
  await read(1);
  const write = held(undefined);
  const writing = values.own(write.work);
  await read(2);
  const across = held(1);
  const reading = values.read('a', across.work);
  write.end();
  await writing;
  across.end();
  await reading;
  await read(2);
  expect(reported).toEqual([]);
  await read(3);
  expect(reported).toEqual([3]);
});

it('does not compare reads across the start of a write', async () => {
  await read(1);
  const before = held(1);
  const reading = values.read('a', before.work);
  await values.own(async () => undefined);
  before.end();
  await reading;
  await read(2);
  expect(reported).toEqual([]);
});

it('a failed read or write is passed on, and not compared', async () => {
  await read(1);
  await expect(values.read('a', () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  await read(1);
  await expect(values.own(() => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  await read(2);
  expect(reported).toEqual([]);
});

it('a read that started earlier and finishes later does not restore its value', async () => {
  const slow = held(1);
  const reading = values.read('a', slow.work);
  clock.advance(1);
  await read(2);
  slow.end();
  await reading;
  await read(2);
  expect(reported).toEqual([]);
});
