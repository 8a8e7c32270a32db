import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEventBus } from '#server/events/bus.ts';
import type { BusListener } from '#server/events/bus.ts';
import { COALESCE_MS } from '#server/events/chunk-coalescer.ts';
import { JOINED_DELTA_BYTES } from '#server/events/delta-joiner.ts';
import type { EventFrame } from '#server/events/frame.ts';
import { createLogger } from '#server/logging/log.ts';
import { delta, frame } from './fixtures.ts';

const log = createLogger('silent');

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setup() {
  const bus = createEventBus({ log });
  const frames: EventFrame[] = [];
  bus.listen(listener((each) => frames.push(each)));
  const texts = () => frames.map(({ type, payload }) => payload['delta'] ?? type);
  return { bus, frames, texts };
}

const listener = (receive: (each: EventFrame) => unknown, more: Partial<BusListener> = {}): BusListener => ({
  receive,
  flushed: () => undefined,
  followers: () => 0,
  ...more,
});

/** One text in chunks, with their offsets. */
function pieces(texts: string[], start = 0): EventFrame[] {
  let offset = start;
  return texts.map((text) => {
    const piece = delta(text, offset);
    offset += text.length;
    return piece;
  });
}

describe('the bus', () => {
  it('delivers frames before publish returns, to every listener in order', () => {
    const { bus, frames } = setup();
    const other: number[] = [];
    const leave = bus.listen(listener(({ seq }) => other.push(seq)));
    bus.publish(frame('turn.started', 1));
    bus.publish(frame('turn.ended', 2));
    expect(frames.map(({ seq }) => seq)).toEqual([1, 2]);
    leave();
    bus.publish(frame('turn.started', 3));
    expect(other).toEqual([1, 2]);
  });

  it('isolates listeners: one that throws does not affect the others', () => {
    const bus = createEventBus({ log });
    const seen: number[] = [];
    const fails = () => {
      throw new Error('out of order');
    };
    bus.listen(listener(fails, { flushed: fails }));
    bus.listen(listener(({ seq }) => seen.push(seq)));
    bus.publish(frame('turn.started', 1));
    bus.flush('s1');
    bus.publish(frame('turn.ended', 2));
    expect(seen).toEqual([1, 2]);
  });

  it('queues a frame that a listener publishes after the current one, for all', () => {
    const bus = createEventBus({ log });
    const seen: number[] = [];
    bus.listen(listener(({ seq }) => seq < 3 && bus.publish(frame('turn.started', seq + 1))));
    bus.listen(listener(({ seq }) => seen.push(seq)));
    bus.publish(frame('turn.started', 1));
    expect(seen).toEqual([1, 2, 3]);
  });

  it('counts the followers of a session over all listeners', () => {
    const bus = createEventBus({ log });
    for (const count of [2, 3]) bus.listen(listener(() => {}, { followers: (id) => (id === 's1' ? count : 0) }));
    expect([bus.followers('s1'), bus.followers('s2')]).toEqual([5, 0]);
  });
});

describe('chunks of a streaming text', () => {
  it('are emitted immediately when they are the first, then joined for 16 ms', () => {
    const { bus, frames, texts } = setup();
    for (const piece of pieces(['a', 'b', 'c'], 5)) bus.publish(piece);
    expect(texts()).toEqual(['a']);
    vi.advanceTimersByTime(COALESCE_MS - 1);
    bus.publish(delta('🎈', 8));
    vi.advanceTimersByTime(1);
    expect(texts()).toEqual(['a', 'bc🎈']);
    expect(frames[1]).toMatchObject({ seq: 1, offset: 6, time: 1_700_000_000_001, volatile: true });
    bus.publish(delta('d', 10));
    vi.advanceTimersByTime(COALESCE_MS);
    expect(texts()).toEqual(['a', 'bc🎈', 'd']);
    expect(frames[2]).toMatchObject({ offset: 10 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stay within 16 KiB of UTF-8 per frame, without a gap in the offsets', () => {
    const { bus, frames, texts } = setup();
    const texts2000 = Array.from({ length: 2000 }, (_, n) => `wörd ${n} `);
    for (const piece of pieces(texts2000)) bus.publish(piece);
    bus.close();
    const sizes = texts().map((text) => Buffer.byteLength(String(text)));
    expect(sizes).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(JOINED_DELTA_BYTES);
    expect(texts().join('')).toBe(texts2000.join(''));
    let offset = 0;
    for (const each of frames) {
      expect(each.offset).toBe(offset);
      offset += String(each.payload['delta']).length;
    }
  });

  it('are emitted unchanged when a single one is larger', () => {
    const { bus, texts } = setup();
    const large = 'x'.repeat(JOINED_DELTA_BYTES + 1);
    for (const piece of pieces(['a', 'b', large, 'c'])) bus.publish(piece);
    expect(texts()).toEqual(['a', 'b', large]);
  });

  it.each([
    ['a durable event', frame('turn.step.completed', 2)],
    ['a volatile event', frame('agent.status.updated', 1, {}, { volatile: true })],
    ['a global event of the session', frame('event.session.work_changed', 2)],
    ['another agent', delta('z', 0, 1, { agent: 'agent-2' })],
    ['another kind of text', { ...delta('z', 0), type: 'thinking.delta' }],
    ['another turn', { ...delta('z', 0), payload: { ...delta('z', 0).payload, turnId: 1 } }],
    ['a hole in the offsets', delta('z', 9)],
    ['another watermark', delta('z', 3, 2)],
  ])('are sent before %s', (_name, next) => {
    const { bus, frames, texts } = setup();
    for (const piece of pieces(['a', 'b', 'c'])) bus.publish(piece);
    bus.publish(next);
    bus.close();
    expect(texts().slice(0, 2)).toEqual(['a', 'bc']);
    expect(frames.at(2)).toEqual(next);
  });

  it('are not flushed by events of another session', () => {
    const { bus, texts } = setup();
    for (const piece of pieces(['a', 'b'])) bus.publish(piece);
    bus.publish(frame('turn.started', 1, {}, { sessionId: 's2' }));
    bus.publish(delta('c', 2));
    expect(texts()).toEqual(['a', 'turn.started']);
    bus.close();
    expect(texts()).toEqual(['a', 'turn.started', 'bc']);
  });

  it('are emitted on flush, so that no frame contains text from before and after it', () => {
    const { bus, texts } = setup();
    const flushed: string[] = [];
    bus.listen(listener(() => {}, { flushed: (id) => flushed.push(`${id} ${texts().join()}`) }));
    const [a, b, c, d] = pieces(['a', 'b', 'c', 'd']);
    for (const piece of [a, b]) if (piece) bus.publish(piece);
    bus.flush('s2');
    bus.flush('s1');
    for (const piece of [c, d]) if (piece) bus.publish(piece);
    expect(texts()).toEqual(['a', 'b']);
    vi.advanceTimersByTime(COALESCE_MS);
    expect(texts()).toEqual(['a', 'b', 'cd']);
    expect(flushed).toEqual(['s2 a', 's1 a,b']);
  });

  it('restart with the step, and continue after a volatile event', () => {
    const { bus, texts } = setup();
    bus.publish(delta('a', 0));
    bus.publish(frame('agent.status.updated', 1, {}, { volatile: true }));
    bus.publish(delta('b', 1));
    expect(texts()).toEqual(['a', 'agent.status.updated']);
    bus.publish(frame('turn.step.completed', 2));
    bus.publish(frame('turn.step.started', 3));
    bus.publish(delta('c', 2, 3));
    expect(texts().slice(2)).toEqual(['b', 'turn.step.completed', 'turn.step.started', 'c']);
  });

  it('of an agent without offsets are joined likewise', () => {
    const { bus, frames } = setup();
    for (const text of ['a', 'b', 'c']) {
      bus.publish(frame('assistant.delta', 1, { turnId: 0, delta: text }, { agent: 'agent-2', volatile: true }));
    }
    bus.close();
    expect(frames.map(({ payload }) => payload['delta'])).toEqual(['a', 'bc']);
    expect(frames[1]).not.toHaveProperty('offset');
  });
});
