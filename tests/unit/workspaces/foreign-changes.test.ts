/** Which differences between two reads are reported: none that overlap a write of this process. */
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

/** A read or write that ends when the test says so. */
function held<T>(value: T) {
  let end = () => {};
  const done = new Promise<T>((resolve) => (end = () => resolve(value)));
  return { work: () => done, end };
}

it('reports a value that differs from the one before, of the same key', async () => {
  await read(1);
  await read(2, 'b');
  await read(1);
  expect(reported).toEqual([]);
  await read(3);
  expect(reported).toEqual([3]);
});

it('compares neither what is read during a write, nor what was read across its end', async () => {
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

it('compares nothing across the start of a write', async () => {
  await read(1);
  const before = held(1);
  const reading = values.read('a', before.work);
  await values.own(async () => undefined);
  before.end();
  await reading;
  await read(2);
  expect(reported).toEqual([]);
});

it('a failed read or write is passed on, and compared with nothing', async () => {
  await read(1);
  await expect(values.read('a', () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  await read(1);
  await expect(values.own(() => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  await read(2);
  expect(reported).toEqual([]);
});

it('a read that began earlier and ends later does not bring its value back', async () => {
  const slow = held(1);
  const reading = values.read('a', slow.work);
  clock.advance(1);
  await read(2);
  slow.end();
  await reading;
  await read(2);
  expect(reported).toEqual([]);
});
