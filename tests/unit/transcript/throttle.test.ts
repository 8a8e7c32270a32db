/** Throttling of streamed operations. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '#server/clock.ts';
import type { StoredOp } from '#server/transcript/reducer/state.ts';
import { COALESCE_MS } from '#server/events/chunk-coalescer.ts';
import { CALL_MS, startThrottle, type Throttle } from '#server/transcript/throttle.ts';

let now = 0;
let timers: { at: number; callback: () => void }[] = [];
const clock: Clock = {
  now: () => now,
  setTimeout(callback, ms) {
    const timer = { at: now + ms, callback };
    timers.push(timer);
    return () => void (timers = timers.filter((one) => one !== timer));
  },
};
function pass(ms: number): void {
  now += ms;
  for (const timer of timers.filter(({ at }) => at <= now)) {
    timers = timers.filter((one) => one !== timer);
    timer.callback();
  }
}

let told: StoredOp[][] = [];
let throttle: Throttle;
beforeEach(() => {
  timers = [];
  told = [];
  throttle = startThrottle(clock, (_agent, ops) => void told.push(ops));
});

const place = { turnId: 't0', stepId: 't0.1' };
const append = (offset: number, text: string, frameId = 'f1'): StoredOp => ({
  op: 'append',
  target: { type: 'frame', ...place, frameId },
  offset,
  text,
});
const call = (inputText: string, id = 'call_1'): StoredOp => ({
  op: 'frame.upsert',
  ...place,
  frame: { kind: 'tool', frameId: id, toolCallId: id, name: 'Write', state: 'running', inputText },
});
const phase: StoredOp = { op: 'meta.merge', meta: { agent: { phase: { kind: 'idle' } } } };

describe('streamed output', () => {
  it('is joined when chunks arrive within a short time', () => {
    throttle.take('main', [append(0, 'a')]);
    throttle.take('main', [append(1, 'b')]);
    expect(told).toEqual([]);
    pass(COALESCE_MS);
    expect(told).toEqual([[append(0, 'ab')]]);
    throttle.take('main', [append(2, 'c')]);
    throttle.take('main', [append(0, 'd', 'f2')]);
    expect(told.slice(1)).toEqual([[append(2, 'c')]]);
  });

  it('of a call is emitted immediately, then only the newest state at intervals', () => {
    throttle.take('main', [call('1')]);
    for (const text of ['12', '123', '1234']) throttle.take('main', [call(text)]);
    throttle.take('main', [call('x', 'call_2')]);
    expect(told).toEqual([[call('1')], [call('x', 'call_2')]]);
    pass(CALL_MS);
    expect(told.slice(2)).toEqual([[call('1234')]]);
    throttle.take('main', [call('12345')]);
    expect(told).toHaveLength(3);
    pass(CALL_MS);
    expect(told.at(-1)).toEqual([call('12345')]);
    pass(CALL_MS);
    throttle.take('main', [call('123456')]);
    expect(told.at(-1)).toEqual([call('123456')]);
  });

  it('does not delay other operations; a flush emits the waiting ones', () => {
    throttle.take('main', [append(0, 'a')]);
    throttle.take('main', [phase]);
    expect(told).toEqual([[phase]]);
    throttle.take('main', [call('1')]);
    throttle.take('main', [call('2')]);
    throttle.flush('other');
    throttle.flush('main');
    expect(told.slice(1)).toEqual([[call('1')], [append(0, 'a')], [call('2')]]);
    throttle.take('main', [append(1, 'b')]);
    throttle.close();
    pass(1000);
    expect(told).toHaveLength(4);
  });
});
