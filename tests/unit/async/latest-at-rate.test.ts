import { describe, expect, it } from 'vitest';
import { createLatestAtRate } from '#server/async/latest-at-rate.ts';
import { manualClock } from '#support/manual-clock.ts';

function throttled() {
  const clock = manualClock(0);
  const emitted: [number, number][] = [];
  const throttle = createLatestAtRate<number>(clock, 100, (value) => emitted.push([clock.now(), value]));
  return { clock, emitted, throttle };
}

describe('a throttle with a trailing call', () => {
  it('emits the first value immediately, the newest of the later ones after the interval', () => {
    const { clock, emitted, throttle } = throttled();
    for (let value = 0; value < 1000; value += 1) throttle.add(value);
    expect(emitted).toEqual([[0, 0]]);
    clock.advance(1000);
    expect(emitted).toEqual([
      [0, 0],
      [100, 999],
    ]);
    throttle.add(1000);
    expect(emitted.at(-1)).toEqual([1000, 1000]);
  });

  it('leaves an interval between a trailing value and the next one', () => {
    const { clock, emitted, throttle } = throttled();
    throttle.add(1);
    throttle.add(2);
    clock.advance(150);
    throttle.add(3);
    expect(emitted.map(([, value]) => value)).toEqual([1, 2]);
    clock.advance(50);
    expect(emitted.at(-1)).toEqual([200, 3]);
    expect(clock.waits()).toEqual([100]);
  });

  it('emits nothing after it was closed', () => {
    const { clock, emitted, throttle } = throttled();
    throttle.add(1);
    throttle.add(2);
    throttle.close();
    clock.advance(1000);
    expect(emitted).toEqual([[0, 1]]);
    expect(clock.waits()).toEqual([]);
  });
});
