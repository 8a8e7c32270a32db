import { describe, expect, it } from 'vitest';
import { retryDelay, sleep } from '#server/agent/loop/retry.ts';
import { ModelError } from '#server/models/types.ts';
import { manualClock } from '#support/manual-clock.ts';

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

  it('uses the delay that the provider requests unmodified, however long', () => {
    expect(retryDelay(failure(3000), 5, () => 1)).toBe(3000);
    expect(retryDelay(failure(600_000), 1, () => 1)).toBe(600_000);
    expect(retryDelay(failure(0), 1, () => 0)).toBe(500);
  });
});

describe('sleep', () => {
  it('resolves when its time is over', async () => {
    const clock = manualClock();
    let over = false;
    const waiting = sleep(2 ** 40, new AbortController().signal, clock).then(() => (over = true));
    clock.advance(2 ** 40 - 1);
    await Promise.resolve();
    expect(over).toBe(false);
    clock.advance(1);
    await waiting;
  });

  it('rejects immediately with the reason of an abort, before or during it', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    const waiting = sleep(60_000, controller.signal, clock);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(sleep(60_000, controller.signal, clock)).rejects.toThrow('enough');
    expect(clock.waits()).toEqual([]);
  });
});
