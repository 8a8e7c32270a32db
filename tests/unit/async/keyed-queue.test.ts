import { beforeEach, expect, test } from 'vitest';
import { createKeyedQueue, createSerialQueue, type KeyedQueue } from '#server/async/keyed-queue.ts';

let queue: KeyedQueue;
let order: string[];
beforeEach(() => {
  queue = createKeyedQueue();
  order = [];
});

/** Queued work that the test ends. */
function open(key: string, name: string) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const done = queue.run(key, async () => {
    order.push(`${name} starts`);
    await ended;
    order.push(`${name} ends`);
    return name;
  });
  return { done, end };
}

test('work of one key runs in the order of the calls, that of other keys meanwhile', async () => {
  const first = open('a', 'first');
  const second = open('a', 'second');
  const other = open('b', 'other');
  other.end();
  expect(await other.done).toBe('other');
  expect(order).toEqual(['first starts', 'other starts', 'other ends']);
  second.end();
  first.end();
  expect(await Promise.all([first.done, second.done])).toEqual(['first', 'second']);
  expect(order.slice(3)).toEqual(['first ends', 'second starts', 'second ends']);
});

test('a failure reaches its caller only; the next work runs', async () => {
  const failed = queue.run('a', () => Promise.reject(new Error('no')));
  const next = queue.run('a', async () => 'next');
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('next');
});

test('the end of work keeps the key while later work of it is queued', async () => {
  const first = open('a', 'first');
  const second = open('a', 'second');
  first.end();
  await first.done;
  expect(queue.isBusy('a')).toBe(true);
  const third = open('a', 'third');
  third.end();
  second.end();
  expect(await third.done).toBe('third');
  expect(order.slice(2)).toEqual(['second starts', 'second ends', 'third starts', 'third ends']);
});

test('a key is busy from the call until its last work has settled', async () => {
  expect(queue.isBusy('a')).toBe(false);
  const first = open('a', 'first');
  expect(queue.isBusy('a')).toBe(true);
  expect(queue.isBusy('b')).toBe(false);
  first.end();
  await first.done;
  expect(queue.isBusy('a')).toBe(false);
  await queue.run('a', () => Promise.reject(new Error('no'))).catch(() => undefined);
  expect(queue.isBusy('a')).toBe(false);
});

test('has settled when the work of all keys has, whether it failed or not', async () => {
  await queue.settled();
  const first = open('a', 'first');
  queue.run('b', () => Promise.reject(new Error('no'))).catch(() => undefined);
  const settled = queue.settled().then(() => order.push('settled'));
  first.end();
  await settled;
  expect(order).toEqual(['first starts', 'first ends', 'settled']);
});

test('a queue without keys runs one work at a time', async () => {
  const serial = createSerialQueue();
  const seen: string[] = [];
  const failed = serial.run(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push('first');
    throw new Error('no');
  });
  const next = serial.run(async () => seen.push('next'));
  await expect(failed).rejects.toThrow('no');
  await serial.settled();
  expect(seen).toEqual(['first', 'next']);
  expect(await next).toBe(2);
});
