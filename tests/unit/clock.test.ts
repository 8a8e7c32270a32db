import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '#server/clock.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => {
  // In this order: restoring a spy on a faked timer restores the fake.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('waits longer than one timer can', () => {
  const called = vi.fn<() => void>();
  systemClock.setTimeout(called, LONGEST_TIMER_MS * 2 + 10);
  for (const ms of [LONGEST_TIMER_MS, LONGEST_TIMER_MS, 9]) {
    vi.advanceTimersByTime(ms);
    expect(called).not.toHaveBeenCalled();
  }
  vi.advanceTimersByTime(1);
  expect(called).toHaveBeenCalledOnce();
});

it('never exceeds the maximum delay of a timer', () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  systemClock.setTimeout(() => undefined, 2 ** 40)();
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([LONGEST_TIMER_MS]);
});

it('a cancelled wait never calls back, in any of its slices', () => {
  const called = vi.fn<() => void>();
  const cancelTimer = systemClock.setTimeout(called, LONGEST_TIMER_MS * 2);
  vi.advanceTimersByTime(LONGEST_TIMER_MS);
  cancelTimer();
  expect(vi.getTimerCount()).toBe(0);
  expect(called).not.toHaveBeenCalled();
});
