/** Random frames at both ends of a tunnel: no exception, no unbounded memory, and a closed tunnel stays closed. */
import type { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { manualClock } from '#support/manual-clock.ts';
import { integer, pick, seeded, type Random } from '#support/random.ts';
import { FACTS, fakeSocket } from '#support/tunnel-pair.ts';
import {
  dataFrame,
  encodeEnd,
  encodeGoAway,
  encodeHello,
  encodeOpen,
  encodePing,
  encodeReset,
  encodeWelcome,
  encodeWindow,
} from '#server/net/streams/frames.ts';
import { createStreams, type Streams } from '#server/net/streams/streams.ts';

/** At each end. */
const SEQUENCES = 10_000;
const FRAMES = 16;
const WINDOW = 131_072;
const MAX_STREAMS = 4;
const LIMITS = { maxStreams: MAX_STREAMS, window: WINDOW, heartbeatMs: 20_000 };

const hello = { protocol: 1 as const, device_id: 'd', instance_id: 'i', client_version: 'v' };
const announced = { max_streams: MAX_STREAMS, window: WINDOW };
const greetings = {
  local: encodeWelcome({ protocol: 1, tunnel_id: 't', heartbeat_ms: 20_000, ...announced }),
  relay: encodeHello({ ...hello, ...announced }),
};

/** Frames are not copied: the multiplexer must not change what it receives. */
const dataFrames = new Map<string, Buffer>();
function data(id: number, size: number): Buffer {
  const key = `${id}:${size}`;
  const frame = dataFrames.get(key) ?? dataFrame(id, size).fill(0, 5);
  if (dataFrames.size < 200) dataFrames.set(key, frame);
  return frame;
}
const WRITTEN = Buffer.alloc(70_000);

const noise = (random: Random) => Buffer.from(Array.from({ length: integer(random, 30) }, () => integer(random, 256)));

function randomFrame(random: Random): Buffer | string {
  const id = 1 + integer(random, 5);
  switch (integer(random, 12)) {
    case 0:
      return noise(random);
    case 1:
      return pick(random, ['', 'text', '{"protocol":1}']);
    case 2:
      return encodeOpen(id, FACTS);
    case 3:
    case 4:
    case 5:
      return data(id, pick(random, [1, 100, 4095, 65_536]));
    case 6:
      return encodeWindow(id, pick(random, [1, 65_536, WINDOW, 0xffff_ffff]));
    case 7:
      return encodeEnd(id);
    case 8:
      return encodeReset(id, { code: 'cancel' });
    case 9:
      return encodePing(pick(random, ['ping', 'pong']), Buffer.alloc(8));
    case 10:
      return encodeGoAway({ reason: 'x' });
    default: {
      // A valid frame with one byte changed.
      const frame = Buffer.from(encodeOpen(id, FACTS));
      frame[integer(random, frame.length)] = integer(random, 256);
      return frame;
    }
  }
}

/** Valid frames of a peer that keeps to ids and credit, with an invalid one now and then. */
function tidyFrame(
  random: Random,
  state: { last: number; ended: Set<number> },
  role: 'local' | 'relay',
): Buffer | string {
  if (integer(random, 60) === 0) return randomFrame(random);
  if (role === 'local' && (state.last === 0 || integer(random, 6) === 0)) return encodeOpen((state.last += 1), FACTS);
  const id = Math.max(1, state.last - integer(random, 3));
  if (state.last === 0 || state.ended.has(id)) return encodePing('ping', Buffer.alloc(8));
  switch (integer(random, 8)) {
    case 0:
      state.ended.add(id);
      return encodeEnd(id);
    case 1:
      state.ended.add(id);
      return encodeReset(id, { code: 'cancel' });
    default:
      return data(id, pick(random, [1, 100, 3000]));
  }
}

/** Uses a stream at random. */
function use(random: Random, stream: Duplex): void {
  switch (integer(random, 6)) {
    case 0:
      stream.resume();
      break;
    case 1:
      stream.pause();
      break;
    case 2:
      if (stream.writable) stream.write(WRITTEN.subarray(integer(random, WRITTEN.length)));
      break;
    case 3:
      stream.end();
      break;
    case 4:
      stream.destroy();
      break;
  }
}

const unread = (streams: readonly Duplex[]) => streams.reduce((sum, stream) => sum + stream.readableLength, 0);

it.each(['local', 'relay'] as const)('survives random frames at the %s end', { timeout: 300_000 }, async (role) => {
  const random = seeded(20_261);
  const outcomes = { open: 0, closed: 0 };
  for (let sequence = 0; sequence < SEQUENCES; sequence += 1) {
    const clock = manualClock(1_800_000_000_000);
    const socket = fakeSocket();
    const opened: Duplex[] = [];
    const streams: Streams = createStreams({
      socket,
      clock,
      limits: LIMITS,
      end: role === 'local' ? { hello } : { tunnelId: 't' },
      onStream: (stream) => void opened.push(stream),
    });
    if (integer(random, 50) > 0) streams.receive(greetings[role]);
    const state = { last: 0, ended: new Set<number>() };
    const isTidy = sequence % 2 === 0;
    for (let count = 0; count < FRAMES; count += 1) {
      if (role === 'relay' && !socket.closed && opened.length < MAX_STREAMS && integer(random, 4) === 0) {
        try {
          opened.push(streams.open(FACTS));
          state.last += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }
      const target = opened[integer(random, opened.length + 1)];
      if (target) use(random, target);
      streams.receive(isTidy ? tidyFrame(random, state, role) : randomFrame(random));
      expect(streams.size).toBeLessThanOrEqual(MAX_STREAMS);
      if (integer(random, 10) === 0) socket.take();
    }
    expect(unread(opened)).toBeLessThanOrEqual(MAX_STREAMS * WINDOW);
    const isClosed = socket.closed !== undefined;
    outcomes[isClosed ? 'closed' : 'open'] += 1;
    if (isClosed) {
      expect(socket.closed?.code).toBe(4002);
      socket.take();
      streams.receive(encodePing('ping', Buffer.alloc(8)));
      expect(socket.sent).toEqual([]);
    }
    streams.lost();
    for (const stream of opened) stream.destroy();
    if (sequence % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  // Both outcomes occur often, so the sequences test both.
  expect(Math.min(outcomes.open, outcomes.closed)).toBeGreaterThan(SEQUENCES / 100);
});
