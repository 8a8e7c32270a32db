import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createInputQueue, INPUT_BYTES } from '#server/terminals/input-queue.ts';

/** A program that accepts `room` bytes. */
function reader(room = Infinity) {
  const taken: Buffer[] = [];
  let left = room;
  const queue = createInputQueue((bytes) => {
    const count = Math.min(left, bytes.length);
    left -= count;
    taken.push(Buffer.from(bytes.subarray(0, count)));
    return count;
  });
  return { queue, text: () => Buffer.concat(taken).toString(), read: (count: number) => (left += count) };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('writes accepted input immediately', async () => {
  const { queue, text } = reader();
  expect(await queue.push('a')).toBe(true);
  expect(await queue.push('é')).toBe(true);
  expect(text()).toBe('aé');
});

it('writes the rest in order as the program continues to read', async () => {
  const { queue, text, read } = reader(2);
  await queue.push('abc');
  await queue.push('def');
  expect(text()).toBe('ab');
  read(2);
  await vi.advanceTimersByTimeAsync(200);
  expect(text()).toBe('abcd');
  read(Infinity);
  await vi.advanceTimersByTimeAsync(200);
  expect(text()).toBe('abcdef');
});

it('makes a sender wait at the high-water mark, and refuses its text on the timeout', async () => {
  const { queue, read } = reader(0);
  expect(await queue.push('x'.repeat(INPUT_BYTES))).toBe(true);
  const refused = queue.push('y');
  await vi.advanceTimersByTimeAsync(1000);
  expect(await refused).toBe(false);
  const accepted = queue.push('z');
  read(Infinity);
  await vi.advanceTimersByTimeAsync(200);
  expect(await accepted).toBe(true);
});

it('drops queued text when closed', async () => {
  const { queue, text, read } = reader(1);
  await queue.push('ab'.repeat(INPUT_BYTES));
  const waiting = queue.push('c');
  queue.close();
  expect(await waiting).toBe(true);
  expect(await queue.push('d')).toBe(true);
  read(Infinity);
  await vi.advanceTimersByTimeAsync(1000);
  expect(text()).toBe('a');
  expect(vi.getTimerCount()).toBe(0);
});
