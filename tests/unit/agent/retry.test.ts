import { afterEach, describe, expect, it, vi } from 'vitest';
import { retryDelay, sleep } from '#server/agent/retry.ts';
import { ModelError } from '#server/models/types.ts';

const failure = (retryAfterMs?: number) =>
  new ModelError('no', {
    code: 'provider.api_error',
    name: 'APIStatusError',
    retry: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

describe('retryDelay', () => {
  it('doubles from half a second up to 32 s', () => {
    const delays = Array.from({ length: 9 }, (_, i) => retryDelay(failure(), i + 1, () => 0));
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000]);
  });

  it('adds up to a quarter', () => {
    expect(retryDelay(failure(), 1, () => 1)).toBe(625);
    expect(retryDelay(failure(), 9, () => 0.5)).toBe(36_000);
  });

  it('takes what the provider asks for as it is, however long', () => {
    expect(retryDelay(failure(3000), 5, () => 1)).toBe(3000);
    expect(retryDelay(failure(600_000), 1, () => 1)).toBe(600_000);
    expect(retryDelay(failure(0), 1, () => 0)).toBe(500);
  });
});

describe('sleep', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('waits longer than one timer can', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const longest = 2 ** 31 - 1;
    let over = false;
    const waiting = sleep(longest * 2 + 10, new AbortController().signal).then(() => (over = true));
    for (const ms of [longest, longest, 9]) {
      await vi.advanceTimersByTimeAsync(ms);
      expect(over).toBe(false);
    }
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expect(over).toBe(true);
  });

  it('never asks a timer for more than it can', async () => {
    const controller = new AbortController();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const waiting = sleep(2 ** 40, controller.signal);
    expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1]);
    timers.mockRestore();
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it('ends by itself', async () => {
    await expect(sleep(1, new AbortController().signal)).resolves.toBeUndefined();
  });

  it('ends at once with the reason of an abort, before or during it', async () => {
    const controller = new AbortController();
    const waiting = sleep(60_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(sleep(60_000, controller.signal)).rejects.toThrow('enough');
  });
});
