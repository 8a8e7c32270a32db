import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDeliveryQueue } from '#server/events/delivery-queue.ts';
import type { DeliveryTimes } from '#server/events/delivery-queue.ts';
import type { EventFrame } from '#server/events/frame.ts';
import { outgoingEvent } from '#server/events/outgoing.ts';
import { EPOCH, delta, frame, testPeer } from './fixtures.ts';

const MIB = 1024 * 1024;

function setup(times: DeliveryTimes = { batchMs: 16, drainMs: 5, stallMs: 30_000 }) {
  const peer = testPeer();
  const cuts: string[] = [];
  const stalls: true[] = [];
  const queue = createDeliveryQueue({
    peer,
    times,
    onCut: (id) => void cuts.push(id),
    onStalled: () => void stalls.push(true),
  });
  const publish = (event: EventFrame, global = false) => queue.sendEvent(outgoingEvent(event), global);
  /** Fills the socket above the high-water mark, so that the queue waits. */
  const stall = () => {
    peer.stalled = true;
    queue.sendNow(JSON.stringify({ type: 'filler', payload: { text: 'x'.repeat(MIB + 1) } }));
    queue.sendNow(JSON.stringify({ type: 'waiting', payload: {} }));
  };
  const unstall = () => {
    peer.stalled = false;
    peer.drain();
    vi.advanceTimersByTime(5);
  };
  const types = () => peer.sent.map(({ type }) => type);
  const after = (type: string) => peer.sent.slice(types().indexOf(type) + 1);
  return { peer, queue, publish, stall, unstall, types, after, cuts, stalls };
}

const status = (fields: object, options: object = {}) =>
  frame('agent.status.updated', 1, fields, { volatile: true, ...options });
const progress = (text: string, kind = 'stdout') =>
  frame('tool.progress', 1, { turnId: 0, toolCallId: 'c1', update: { kind, text } }, { volatile: true });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('batching', () => {
  it('writes session events after 16 ms, in order', () => {
    const { peer, publish, types } = setup();
    publish(frame('turn.started', 1));
    vi.advanceTimersByTime(10);
    publish(frame('turn.ended', 2));
    vi.advanceTimersByTime(5);
    expect(peer.sent).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(types()).toEqual(['turn.started', 'turn.ended']);
  });

  it('writes immediately when 64 frames are queued', () => {
    const { peer, publish } = setup();
    for (let seq = 1; seq < 64; seq += 1) publish(frame('turn.started', seq));
    expect(peer.sent).toHaveLength(0);
    publish(frame('turn.started', 64));
    expect(peer.sent.map(({ seq }) => seq)).toEqual(Array.from({ length: 64 }, (_, index) => index + 1));
  });

  it('writes acks, system frames and global events immediately, after the queued frames', () => {
    const { publish, queue, types } = setup();
    publish(frame('turn.started', 1));
    publish(frame('event.session.work_changed', 2), true);
    expect(types()).toEqual(['turn.started', 'event.session.work_changed']);
    publish(frame('turn.ended', 3));
    queue.sendNow('{"type":"ack","payload":{}}');
    expect(types().slice(2)).toEqual(['turn.ended', 'ack']);
  });

  it('includes later frames of the same event loop turn in a write, and delays the others', () => {
    const { publish, types } = setup();
    publish(frame('event.session.work_changed', 1), true);
    publish(frame('prompt.completed', 2));
    publish(status({ model: 'm' }));
    expect(types()).toEqual(['event.session.work_changed', 'prompt.completed', 'agent.status.updated']);
    vi.advanceTimersByTime(0);
    publish(frame('turn.started', 3));
    vi.advanceTimersByTime(15);
    expect(types()).toHaveLength(3);
    vi.advanceTimersByTime(1);
    expect(types().slice(3)).toEqual(['turn.started']);
  });

  it('sends the bytes to which the event was encoded', () => {
    const { peer, queue } = setup();
    const send = vi.spyOn(peer, 'send');
    const event = outgoingEvent(frame('session.meta.updated', 1));
    queue.sendEvent(event, true);
    expect(send.mock.calls[0]?.[0]).toBe(event.bytes);
  });
});

describe('deltas', () => {
  it('are written immediately, after the queued frames, each when it arrives', () => {
    const { publish, types } = setup();
    publish(frame('turn.step.started', 1));
    publish(delta('Hel', 0));
    publish(delta('lo', 3));
    expect(types()).toEqual(['turn.step.started', 'assistant.delta', 'assistant.delta']);
  });
});

describe('merging of waiting deltas', () => {
  it('joins adjacent chunks under the first seq, offset and timestamp', () => {
    const { publish, stall, unstall, after } = setup();
    stall();
    publish(delta('Hel', 4));
    publish(delta('lo ', 7));
    publish(delta('🎈', 10));
    unstall();
    expect(after('waiting')).toHaveLength(1);
    expect(after('waiting')[0]).toMatchObject({ seq: 1, offset: 4, payload: { delta: 'Hello 🎈', turnId: 0 } });
    expect(Object.keys(after('waiting')[0] ?? {})).toEqual([
      'type',
      'seq',
      'session_id',
      'timestamp',
      'payload',
      'epoch',
      'volatile',
      'offset',
    ]);
  });

  it.each([
    ['another frame between', [delta('a', 0), frame('turn.step.started', 2), delta('b', 1)]],
    ['another agent', [delta('a', 0), delta('b', 1, 1, { agent: 'agent-2' })]],
    ['another session', [delta('a', 0), delta('b', 1, 1, { sessionId: 's2' })]],
    ['a hole in the offsets', [delta('a', 0), delta('b', 2)]],
    ['another turn', [delta('a', 0), { ...delta('b', 1), payload: { ...delta('b', 1).payload, turnId: 1 } }]],
    ['thinking', [delta('a', 0), { ...delta('b', 1), type: 'thinking.delta' }]],
  ])('does not cross %s', (_name, frames) => {
    const { publish, stall, unstall, after } = setup();
    stall();
    for (const each of frames) publish(each);
    unstall();
    expect(after('waiting')).toHaveLength(frames.length);
  });

  it('does not cross the position at which a client read the length of the text', () => {
    const { queue, publish, stall, unstall, after } = setup();
    stall();
    publish(delta('a', 0));
    publish(delta('b', 1));
    queue.seal();
    publish(delta('c', 2));
    publish(delta('d', 3));
    // Thinning away the frame that was last at a seal must not move the seal.
    publish(status({ contextTokens: 1 }));
    queue.seal();
    publish(delta('e', 4));
    publish(status({ contextTokens: 2 }));
    unstall();
    expect(after('waiting').map(({ offset, payload }) => [offset, payload['delta']])).toEqual([
      [0, 'ab'],
      [2, 'cd'],
      [4, 'e'],
      [undefined, undefined],
    ]);
  });

  it('limits a merged chunk to 64 KiB of UTF-8', () => {
    const { publish, stall, unstall, after } = setup();
    const piece = 'ü'.repeat(10 * 1024);
    stall();
    for (let index = 0; index < 7; index += 1) publish(delta(piece, index * piece.length));
    unstall();
    const sizes = after('waiting').map(({ payload }) => Buffer.byteLength(String(payload['delta'])));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024);
    expect(sizes).toEqual([60 * 1024, 60 * 1024, 20 * 1024]);
    expect(after('waiting').map(({ offset }) => offset)).toEqual([0, 3 * piece.length, 6 * piece.length]);
  });
});

describe('a full socket', () => {
  it('receives no more frames above 1 MiB, and the rest in order after it drains', () => {
    const { peer, publish, stall, unstall, types } = setup();
    stall();
    for (let seq = 1; seq <= 100; seq += 1) publish(frame('turn.started', seq));
    vi.advanceTimersByTime(1000);
    expect(types()).toEqual(['filler']);
    unstall();
    expect(types()).toEqual(['filler', 'waiting', ...Array.from({ length: 100 }, () => 'turn.started')]);
    expect(peer.sent.slice(2).map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  it('counts the fields that a status takes over from a dropped one', () => {
    const { publish, stall, cuts } = setup();
    stall();
    publish(status({ model: 'm'.repeat(5 * MIB) }));
    publish(status({ contextTokens: 1 }));
    publish(frame('turn.ended', 2, { text: 'x'.repeat(4 * MIB) }, { sessionId: 's2' }));
    expect(cuts).toEqual(['s1']);
  });

  it('retains only the newest status of an agent, with the fields of the dropped ones', () => {
    const { publish, stall, unstall, after } = setup();
    stall();
    publish(status({ time: 5, model: 'm', contextTokens: 1 }));
    publish(status({ phase: { kind: 'idle' } }));
    publish(status({ time: 6, contextTokens: 2 }, { agent: 'agent-2' }));
    publish(status({ time: 7, contextTokens: 3 }));
    unstall();
    const statuses = after('waiting');
    expect(statuses.map(({ payload }) => payload)).toEqual([
      { type: 'agent.status.updated', time: 6, contextTokens: 2, agentId: 'agent-2', sessionId: 's1' },
      {
        type: 'agent.status.updated',
        time: 7,
        model: 'm',
        contextTokens: 3,
        phase: { kind: 'idle' },
        agentId: 'main',
        sessionId: 's1',
      },
    ]);
    expect(Object.keys(statuses[1]?.payload ?? {}).slice(0, 2)).toEqual(['type', 'time']);
  });

  it('merges text that a dropped frame had separated', () => {
    const { publish, stall, unstall, after } = setup();
    stall();
    for (let index = 0; index < 3000; index += 1) {
      publish(delta('x', index));
      publish(status({ contextTokens: index }));
    }
    unstall();
    const frames = after('waiting');
    expect(frames).toHaveLength(2);
    expect(frames[0]).toMatchObject({ offset: 0, payload: { delta: 'x'.repeat(3000) } });
    expect(frames[1]).toMatchObject({ payload: { contextTokens: 2999 } });
  });

  it('retains the newest 64 progress frames of a call, and all custom ones', () => {
    const { publish, stall, unstall, after } = setup();
    stall();
    publish(progress('sign in', 'custom'));
    for (let index = 0; index < 200; index += 1) publish(progress(String(index)));
    unstall();
    const texts = after('waiting').map(({ payload }) => (payload['update'] as { text: string }).text);
    expect(texts).toEqual(['sign in', ...Array.from({ length: 64 }, (_, index) => String(136 + index))]);
  });

  it('thins what was queued before it filled up', () => {
    const { peer, publish, queue, unstall, after } = setup();
    peer.stalled = true;
    queue.sendNow(JSON.stringify({ type: 'filler', payload: { text: 'x'.repeat(MIB + 1) } }));
    publish(status({ model: 'm' }));
    publish(status({ contextTokens: 2 }));
    vi.advanceTimersByTime(16);
    unstall();
    expect(after('filler')).toHaveLength(1);
    expect(after('filler')[0]?.payload).toMatchObject({ model: 'm', contextTokens: 2 });
  });
});

describe('the bound', () => {
  it('replaces a session above 1000 frames by one resync_required with its watermark, and continues', () => {
    const { publish, stall, unstall, after, cuts } = setup();
    stall();
    publish(frame('turn.started', 7, {}, { sessionId: 's2' }));
    for (let seq = 1; seq <= 2500; seq += 1) publish(frame('turn.started', seq));
    unstall();
    const frames = after('waiting');
    expect(cuts).toEqual(['s1', 's1']);
    expect(frames[0]).toMatchObject({ type: 'turn.started', session_id: 's2', seq: 7 });
    const notices = frames.filter(({ type }) => type === 'resync_required');
    expect(notices.map(({ payload }) => payload)).toEqual([
      { session_id: 's1', reason: 'buffer_overflow', current_seq: 2001, epoch: EPOCH },
    ]);
    const rest = frames.filter(({ session_id }) => session_id === 's1').map(({ seq }) => seq);
    expect(rest).toEqual(Array.from({ length: 499 }, (_, index) => 2002 + index));
  });

  it('cuts the largest session when 8 MiB wait', () => {
    const { publish, stall, unstall, after, cuts } = setup();
    stall();
    for (let seq = 1; seq <= 9; seq += 1) publish(frame('tool.result', seq, { output: 'x'.repeat(0.85 * MIB) }));
    publish(frame('turn.started', 1, {}, { sessionId: 's2' }));
    publish(frame('tool.result', 2, { output: 'y'.repeat(MIB) }, { sessionId: 's2' }));
    unstall();
    expect(cuts).toEqual(['s1']);
    expect(after('waiting').map(({ type, session_id }) => [type, session_id])).toEqual([
      ['turn.started', 's2'],
      ['resync_required', undefined],
      ['tool.result', 's2'],
    ]);
  });

  it('accepts a single frame of any size when the queue is empty', () => {
    const { peer, publish, cuts } = setup();
    publish(frame('tool.result', 1, { output: 'x'.repeat(9 * MIB) }));
    vi.advanceTimersByTime(16);
    expect(cuts).toEqual([]);
    expect(peer.sent).toHaveLength(1);
  });
});

describe('a socket that drains no byte', () => {
  it('is closed with 1013 after 30 s, an error frame first', () => {
    const { peer, publish, stall, stalls } = setup();
    stall();
    publish(frame('turn.started', 1));
    vi.advanceTimersByTime(29_900);
    expect(peer.closes).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(peer.closes).toEqual([{ code: 1013, reason: 'slow consumer' }]);
    expect(stalls).toEqual([true]);
    expect(peer.sent.at(-1)).toMatchObject({
      type: 'error',
      payload: { code: 50001, msg: 'slow consumer', fatal: true },
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stays open while some bytes drain', () => {
    const { peer, stall } = setup();
    stall();
    for (let round = 0; round < 3; round += 1) {
      vi.advanceTimersByTime(20_000);
      // With one byte per round it stays above the mark.
      peer.drain(1);
    }
    vi.advanceTimersByTime(20_000);
    expect(peer.closes).toEqual([]);
  });
});

describe('waiting answers', () => {
  const answer = JSON.stringify({ type: 'ack', payload: {} });

  it('leave no capacity from the 256th on, until one is written', async () => {
    const { queue, stall, unstall } = setup();
    stall();
    for (let n = 1; n < 256; n += 1) queue.sendNow(answer, 'answer');
    await queue.answerRoom();
    queue.sendNow(answer, 'answer');
    let has = false;
    const room = queue.answerRoom().then(() => (has = true));
    await Promise.resolve();
    expect(has).toBe(false);
    unstall();
    await room;
  });

  it('leave no capacity above 1 MiB, and closing the queue resolves the waiting callers', async () => {
    const { queue, stall } = setup();
    stall();
    queue.sendNow(JSON.stringify({ type: 'pong', payload: { nonce: 'x'.repeat(MIB) } }), 'answer');
    const room = queue.answerRoom();
    queue.close();
    await expect(room).resolves.toBeUndefined();
  });
});

describe('room', () => {
  it('resolves immediately while no frame waits, and after the drain otherwise', async () => {
    const { queue, stall, unstall } = setup();
    await queue.room();
    stall();
    let has = false;
    const room = queue.room().then(() => (has = true));
    await Promise.resolve();
    expect(has).toBe(false);
    unstall();
    await room;
    expect(has).toBe(true);
  });

  it('resolves when the queue is closed', async () => {
    const { queue, stall } = setup();
    stall();
    const room = queue.room();
    queue.close();
    await expect(room).resolves.toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('streams of which the newest frames are retained', () => {
  const line = (n: number, size = 0) => JSON.stringify({ type: `line-${n}`, payload: { text: 'x'.repeat(size) } });

  it('keep their order after the waiting frames', () => {
    const { queue, publish, stall, unstall, after } = setup();
    stall();
    queue.sendNow(line(1), { newestOf: 't1' });
    publish(frame('turn.started', 1));
    queue.sendNow(Buffer.from(line(2)), { newestOf: 't1' });
    unstall();
    expect(after('waiting').map(({ type }) => type)).toEqual(['line-1', 'turn.started', 'line-2']);
  });

  it('lose their oldest above 1000 frames, per stream', () => {
    const { queue, stall, unstall, after } = setup();
    stall();
    queue.sendNow(line(1), { newestOf: 't2' });
    for (let n = 1; n <= 1010; n += 1) queue.sendNow(line(n), { newestOf: 't1' });
    unstall();
    const left = after('waiting').map(({ type }) => type);
    expect(left.slice(0, 2)).toEqual(['line-1', 'line-11']);
    expect(left).toHaveLength(1001);
  });

  it('lose their oldest above 8 MiB and cut no session', () => {
    const { queue, publish, stall, unstall, after, cuts } = setup();
    stall();
    publish(frame('turn.started', 1));
    for (let n = 1; n <= 20; n += 1) queue.sendNow(line(n, MIB), { newestOf: 't1' });
    publish(frame('turn.ended', 2));
    unstall();
    expect(cuts).toEqual([]);
    const left = after('waiting').map(({ type }) => type);
    expect(left[0]).toBe('turn.started');
    expect(left.at(-1)).toBe('turn.ended');
    expect(left.slice(1, -1)).toEqual(Array.from({ length: 7 }, (_, n) => `line-${n + 14}`));
  });

  it('lose no frames because of a replay, which is not counted', () => {
    const { queue, publish, stall, unstall, after, cuts } = setup();
    stall();
    for (let n = 1; n <= 12; n += 1) queue.sendNow(line(n, MIB), 'replay');
    publish(frame('turn.started', 1));
    unstall();
    expect(cuts).toEqual([]);
    expect(after('waiting')).toHaveLength(13);
  });

  it('keep a sealed text separate, also when the frame after it is dropped', () => {
    const { queue, publish, stall, unstall, after } = setup();
    stall();
    publish(delta('a', 0));
    queue.sendNow(line(1, 5 * MIB), { newestOf: 't1' });
    queue.seal();
    queue.sendNow(line(2, 5 * MIB), { newestOf: 't1' });
    publish(delta('b', 1));
    unstall();
    expect(after('waiting').map(({ type }) => type)).toEqual(['assistant.delta', 'line-2', 'assistant.delta']);
  });
});
