import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { manualClock } from '#support/manual-clock.ts';
import { eventually, until } from '#support/patience.ts';
import { FACTS, fakeSocket, received, tunnelPair } from '#support/tunnel-pair.ts';
import {
  dataFrame,
  encodeEnd,
  encodeHello,
  encodeOpen,
  encodePing,
  encodeReset,
  encodeWelcome,
  encodeWindow,
  readFrame,
} from '#server/net/streams/frames.ts';
import { createStreams, STREAM_LIMITS } from '#server/net/streams/streams.ts';
import { StreamReset } from '#server/net/streams/tunnel-stream.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const bytes = (size: number, seed = 7) => Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * seed) % 251));
const data = (id: number, size: number) => dataFrame(id, size).fill(1, 5);

async function openPair(options: Parameters<typeof tunnelPair>[0] = {}) {
  const pair = tunnelPair(options);
  await until(() => pair.local.frames.length > 0 && pair.relay.frames.length > 0, 'HELLO and WELCOME');
  const open = async () => {
    const count = pair.accepted.length;
    const relay = pair.relay.streams.open(FACTS);
    const local = await until(() => pair.accepted[count]);
    return { relay, local };
  };
  return { ...pair, open };
}

/** A local end whose peer is the test. */
function localEnd(options: { clock?: ReturnType<typeof manualClock> } = {}) {
  const clock = options.clock ?? manualClock();
  const socket = fakeSocket();
  const accepted: Duplex[] = [];
  const streams = createStreams({
    socket,
    clock,
    end: { hello: { device_id: 'd1', instance_id: 'i1', client_version: 'test/1' } },
    onStream: (stream) => void accepted.push(stream),
  });
  const welcome = { protocol: 1 as const, tunnel_id: 't1', heartbeat_ms: 20_000, max_streams: 128, window: 262_144 };
  const frames = () => socket.sent.map((message) => readFrame(message));
  return {
    clock,
    socket,
    streams,
    accepted,
    welcome,
    frames,
    greet: () => streams.receive(encodeWelcome(welcome)),
    receive: (...messages: (Buffer | string)[]) => messages.forEach((message) => streams.receive(message)),
    resets: () => frames().flatMap((frame) => (frame?.type === 'reset' ? [[frame.id, frame.reset.code]] : [])),
  };
}

describe('streams of a tunnel', () => {
  it('carries bytes in both directions and the end of each', async () => {
    const { open, local, relay } = await openPair();
    const stream = await open();
    const up = bytes(3 * MIB);
    const down = bytes(2 * MIB, 11);
    stream.relay.end(up);
    stream.local.end(down);
    const [atLocal, atRelay] = await Promise.all([received(stream.local), received(stream.relay)]);
    expect([atLocal.equals(up), atRelay.equals(down)]).toEqual([true, true]);
    await eventually(() => expect([local.streams.size, relay.streams.size]).toEqual([0, 0]));
    expect(local.socket.closed).toBeUndefined();
    expect(relay.frames.filter(({ type }) => type === 'reset')).toEqual([]);
  });

  it('sends no more than the window to a peer that reads nothing', async () => {
    const { open, relay } = await openPair();
    const stream = await open();
    let sent = 0;
    const chunk = bytes(16 * KIB);
    while (stream.relay.write(chunk)) sent += chunk.length;
    await eventually(() => expect(stream.relay.writableNeedDrain).toBe(true));
    const arrived = () => relay.frames.reduce((sum, frame) => sum + (frame.type === 'data' ? frame.data.length : 0), 0);
    await eventually(() => expect(arrived()).toBe(STREAM_LIMITS.window));
    expect(sent).toBeLessThan(2 * STREAM_LIMITS.window);
    // One chunk after another is read: the rest follows.
    stream.relay.end();
    expect((await received(stream.local)).length).toBe(sent + chunk.length);
  });

  it('keeps the other streams running while one is not read', async () => {
    const { open } = await openPair();
    const stalled = await open();
    const running = await open();
    stalled.relay.write(bytes(2 * MIB));
    running.relay.end(bytes(4 * MIB));
    expect((await received(running.local)).length).toBe(4 * MIB);
    expect(stalled.relay.writableLength).toBeGreaterThan(MIB);
  });

  it('sends DATA of several streams in turn', async () => {
    const { open, relay } = await openPair();
    const [one, two] = [await open(), await open()];
    // While the send buffer is full, both have data to send.
    const { socket } = relay;
    const buffered = Object.getOwnPropertyDescriptor(socket, 'bufferedAmount');
    Object.defineProperty(socket, 'bufferedAmount', { get: () => 5 * MIB, configurable: true });
    one.relay.write(bytes(190 * KIB));
    two.relay.write(bytes(190 * KIB));
    const third = relay.streams.open(FACTS);
    expect(relay.frames.filter(({ type }) => type === 'data')).toEqual([]);
    Object.defineProperty(socket, 'bufferedAmount', buffered ?? {});
    const order = await until(() => {
      const ids = relay.frames.flatMap((frame) => (frame.type === 'data' ? [frame.id] : []));
      return ids.length >= 6 && ids;
    });
    expect(order).toEqual([1, 2, 1, 2, 1, 2]);
    // Control frames do not wait for the buffer.
    const types = relay.frames.map(({ type }) => type);
    expect(types.lastIndexOf('open')).toBeLessThan(types.indexOf('data'));
    third.destroy();
  });

  it('stops taking DATA while the WebSocket has a full buffer', async () => {
    const limits = { ...STREAM_LIMITS, window: 262_144 };
    const { open, relay, hold, release } = await openPair({ limits });
    const streams = await Promise.all(Array.from({ length: 40 }, open));
    hold('local');
    for (const stream of streams) stream.relay.end(bytes(250 * KIB));
    expect(relay.socket.bufferedAmount).toBeLessThanOrEqual(4 * MIB + 66 * KIB);
    release('local');
    const sizes = await Promise.all(streams.map(async ({ local }) => (await received(local)).length));
    expect(new Set(sizes)).toEqual(new Set([250 * KIB]));
    expect(relay.socket.mostBuffered).toBeLessThanOrEqual(4 * MIB + 66 * KIB);
  });

  it('resets a stream that is destroyed, with the code of its end', async () => {
    const { open, accepted, relay } = await openPair();
    const left = await open();
    const gone = once(left.local, 'close');
    left.relay.destroy();
    await gone;
    expect(relay.frames.at(-1)).toMatchObject({ type: 'reset', reset: { code: 'cancel' } });
    const failed = await open();
    const told = once(failed.relay, 'error');
    failed.local.destroy(new Error('broken'));
    expect(await told).toMatchObject([{ code: 'local_error' }]);
    const coded = await open();
    const timeout = once(coded.local, 'error');
    coded.relay.destroy(new StreamReset({ code: 'timeout' }));
    expect(await timeout).toMatchObject([{ code: 'timeout' }]);
    expect(accepted).toHaveLength(3);
  });

  it('leaves bytes readable that came before an end and a reset', async () => {
    const { open, hold, release } = await openPair();
    const stream = await open();
    hold('relay');
    stream.local.end(bytes(100 * KIB));
    // The whole reply was sent; the request is not wanted any more.
    await once(stream.local, 'finish');
    stream.local.destroy();
    release('relay');
    stream.relay.write('rest of a request');
    expect((await received(stream.relay)).length).toBe(100 * KIB);
    await eventually(() => expect(stream.relay.destroyed).toBe(true));
  });

  it('ends the streams of a lost tunnel, but no stream that was complete', async () => {
    const { open, local, relay } = await openPair();
    const complete = await open();
    const broken = await open();
    complete.local.end('all');
    broken.local.write('some');
    complete.relay.end();
    broken.relay.resume();
    const failure = once(broken.relay, 'error');
    const hasEnd = ({ frames }: typeof relay) => frames.some(({ type }) => type === 'end');
    await until(() => hasEnd(local) && hasEnd(relay));
    relay.streams.lost();
    expect(await failure).toMatchObject([{ message: 'the tunnel was lost' }]);
    expect((await received(complete.relay)).toString()).toBe('all');
  });

  it('works with a pipeline in both directions', async () => {
    const { open } = await openPair();
    const stream = await open();
    const echo = pipeline(stream.local, stream.local);
    stream.relay.end(bytes(MIB));
    expect((await received(stream.relay)).equals(bytes(MIB))).toBe(true);
    await echo;
  });

  it('refuses streams after a GOAWAY of either end', async () => {
    const { local, relay, open } = await openPair();
    await open();
    local.streams.goAway({ reason: 'local_server_stopped' });
    await until(() => local.frames.some(({ type }) => type === 'goaway'));
    expect(() => relay.streams.open(FACTS)).toThrow('too many streams');
  });

  it('resolves when all streams have ended', async () => {
    const { local, open } = await openPair();
    await local.streams.ended();
    const stream = await open();
    let isOver = false;
    const ended = local.streams.ended().then(() => (isOver = true));
    expect(isOver).toBe(false);
    stream.relay.destroy();
    await ended;
  });
});

describe('frames of a hostile relay', () => {
  const closes = (name: string, messages: (Buffer | string)[], reason: string | RegExp) =>
    it(`closes the tunnel for ${name}`, () => {
      const end = localEnd();
      end.greet();
      end.receive(encodeOpen(1, FACTS), ...messages);
      expect(end.socket.closed).toMatchObject({ code: 4002, reason: expect.stringMatching(reason) as string });
      expect(end.accepted.every((stream) => stream.destroyed)).toBe(true);
    });

  closes(
    'DATA beyond the credit',
    [data(1, 65_536), data(1, 65_536), data(1, 65_536), data(1, 65_536), data(1, 1)],
    /beyond the credit/,
  );
  closes('DATA after END', [encodeEnd(1), data(1, 1)], /after END/);
  closes('a second END', [encodeEnd(1), encodeEnd(1)], /second END/);
  closes('a WINDOW above the window', [encodeWindow(1, 1)], /above the w/);
  closes('an id that does not rise', [encodeOpen(1, FACTS)], /OPEN of stream 1 after 1/);
  closes('DATA of a stream that was never opened', [data(2, 1)], /never opened/);
  closes('a RESET of a stream that was never opened', [encodeReset(2, { code: 'cancel' })], /never opened/);
  closes('a text message', ['{}'], /text message/);
  closes('an empty message', [Buffer.alloc(0)], /frame of 0 bytes/);
  closes('a frame that is too long', [Buffer.alloc(65_542, 0x11)], /frame of 65542 bytes/);
  closes('DATA without bytes', [data(1, 0)], /0 bytes of payload/);
  closes('END with bytes', [Buffer.concat([encodeEnd(1), Buffer.from('x')])], /1 bytes of payload/);
  closes('WINDOW of no credit', [encodeWindow(1, 0)], /without credit/);
  closes('a PING of another size', [Buffer.from([0x03, 0, 0, 0, 0, 1])], /1 bytes of payload/);
  closes(
    'a connection frame with a stream id',
    [Buffer.from([0x03, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8])],
    /for stream 1/,
  );
  closes('a stream frame without an id', [data(0, 1)], /for stream 0/);
  closes('RESET without JSON', [Buffer.from([0x14, 0, 0, 0, 1, 0x7b])], /malformed RESET/);
  closes('a second WELCOME', [encodeWelcome(localEnd().welcome)], /second WELCOME/);
  closes(
    'HELLO of the relay',
    [
      encodeHello({
        protocol: 1,
        device_id: 'd',
        instance_id: 'i',
        client_version: 'v',
        max_streams: 1,
        window: 131_072,
      }),
    ],
    /second HELLO/,
  );

  it.each([
    ['an address that is none', { ...FACTS, remote_addr: 'localhost' }],
    ['a host with a path', { ...FACTS, host: 'relay.test/x' }],
    ['a prefix with markup', { ...FACTS, prefix: '/"><script>' }],
    ['a prefix that leaves its folder', { ...FACTS, prefix: '/devices/..' }],
    ['a prefix that names a host', { ...FACTS, prefix: '//evil.test' }],
    ['another scheme', { ...FACTS, scheme: 'javascript' }],
  ])('closes the tunnel for OPEN with %s', (_name, facts) => {
    const end = localEnd();
    end.greet();
    const payload = Buffer.from(JSON.stringify(facts));
    end.receive(Buffer.concat([Buffer.from([0x10, 0, 0, 0, 1]), payload]));
    expect(end.socket.closed).toMatchObject({ code: 4002, reason: 'malformed OPEN frame' });
    expect(end.accepted).toEqual([]);
  });

  it('accepts a prefix of several segments, and none', () => {
    const end = localEnd();
    end.greet();
    end.receive(encodeOpen(1, { ...FACTS, prefix: '/a.b/devices/~x-1' }), encodeOpen(7, { ...FACTS, prefix: '' }));
    expect(end.accepted).toHaveLength(2);
  });

  it('closes the tunnel for OPEN of more than 4096 bytes', () => {
    const end = localEnd();
    end.greet();
    const payload = Buffer.from(JSON.stringify({ ...FACTS, more: 'x'.repeat(4096) }));
    end.receive(Buffer.concat([Buffer.from([0x10, 0, 0, 0, 1]), payload]));
    expect(end.socket.closed?.code).toBe(4002);
  });

  it.each([
    ['DATA', data(1, 1)],
    ['PING', encodePing('ping', Buffer.alloc(8))],
    ['an unknown type', Buffer.from([0x77, 0, 0, 0, 0])],
    ['WELCOME of another protocol', Buffer.concat([Buffer.from([0x02, 0, 0, 0, 0]), Buffer.from('{"protocol":2}')])],
  ])('closes the tunnel for %s as the first frame', (_name, message) => {
    const end = localEnd();
    end.receive(message);
    expect(end.socket.closed?.code).toBe(4002);
  });

  it('closes the tunnel for a window below the least', () => {
    const end = localEnd();
    const text = JSON.stringify({ ...end.welcome, window: 131_071 });
    end.receive(Buffer.concat([Buffer.from([0x02, 0, 0, 0, 0]), Buffer.from(text)]));
    expect(end.socket.closed?.code).toBe(4002);
  });

  it('ignores unknown types and frames of finished streams', () => {
    const end = localEnd();
    end.greet();
    end.receive(encodeOpen(1, FACTS), encodeReset(1, { code: 'cancel' }));
    end.receive(data(1, 65_536), encodeEnd(1), encodeEnd(1), encodeWindow(1, 4), encodeReset(1, { code: 'cancel' }));
    end.receive(Buffer.from([0x77, 0, 0, 0, 9, 1]), encodeOpen(2, FACTS));
    expect(end.socket.closed).toBeUndefined();
    expect(end.accepted).toHaveLength(2);
  });

  it('refuses streams beyond the smaller limit of both ends', () => {
    const end = localEnd();
    end.receive(encodeWelcome({ ...end.welcome, max_streams: 2 }));
    end.receive(encodeOpen(1, FACTS), encodeOpen(2, FACTS), encodeOpen(3, FACTS));
    expect(end.resets()).toEqual([[3, 'refused']]);
    // A stream counts until its memory is released.
    end.receive(encodeReset(1, { code: 'cancel' }), encodeOpen(4, FACTS));
    expect(end.resets()).toEqual([[3, 'refused']]);
  });

  it('uses the smaller window of both ends', async () => {
    const end = localEnd();
    end.receive(encodeWelcome({ ...end.welcome, window: 131_072 }), encodeOpen(1, FACTS));
    end.accepted[0]?.write(bytes(200_000));
    await until(() => end.socket.bufferedAmount > 131_072);
    const sent = end.frames().reduce((sum, frame) => sum + (frame?.type === 'data' ? frame.data.length : 0), 0);
    expect(sent).toBe(131_072);
    end.receive(data(1, 65_536), data(1, 65_536), data(1, 1));
    expect(end.socket.closed?.code).toBe(4002);
  });

  it('refuses more than 1,000 streams in a second, of 10,000 that are opened and reset', () => {
    const end = localEnd();
    end.greet();
    for (let id = 1; id <= 10_000; id += 1) end.receive(encodeOpen(id, FACTS), encodeReset(id, { code: 'cancel' }));
    expect(end.accepted).toHaveLength(1000);
    expect(end.socket.closed).toBeUndefined();
    expect(end.streams.size).toBe(0);
    end.clock.advance(1000);
    end.receive(encodeOpen(10_001, FACTS));
    expect(end.accepted).toHaveLength(1001);
  });

  it('closes the tunnel of a relay that floods it and reads no replies', () => {
    const end = localEnd();
    end.greet();
    const ping = encodePing('ping', Buffer.alloc(8));
    // The bytes of the fake WebSocket, without a walk over its messages at each ping.
    let buffered = 0;
    Object.defineProperty(end.socket, 'bufferedAmount', { get: () => (buffered += 1024) });
    for (let count = 0; count < 20 * KIB && !end.socket.closed; count += 1) end.receive(ping);
    expect(end.socket.closed).toMatchObject({ code: 4002, reason: 'the peer reads no frames' });
  });

  it('joins tiny chunks that are not read', () => {
    const end = localEnd();
    end.greet();
    end.receive(encodeOpen(1, FACTS));
    const before = process.memoryUsage();
    const one = data(1, 1);
    for (let sent = 0; sent < STREAM_LIMITS.window; sent += 1) end.receive(one);
    const after = process.memoryUsage();
    const added = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    expect(added).toBeLessThan(20 * MIB);
    expect(end.socket.closed).toBeUndefined();
  });

  it('refuses OPEN at the end of the relay', () => {
    const socket = fakeSocket();
    const relay = createStreams({ socket, clock: manualClock(), end: { tunnelId: 't1' } });
    relay.receive(
      encodeHello({
        protocol: 1,
        device_id: 'd',
        instance_id: 'i',
        client_version: 'v',
        max_streams: 9,
        window: 262_144,
      }),
    );
    relay.receive(encodeOpen(1, FACTS));
    expect(socket.closed).toMatchObject({ code: 4002, reason: 'OPEN from the local end' });
  });
});

describe('heartbeat of a tunnel', () => {
  const pings = (end: ReturnType<typeof localEnd>) => end.frames().filter((frame) => frame?.type === 'ping').length;

  it('sends pings and answers them', () => {
    const end = localEnd();
    end.greet();
    end.receive(encodePing('ping', Buffer.from('12345678')));
    expect(end.frames().at(-1)).toMatchObject({ type: 'pong', token: Buffer.from('12345678') });
    end.clock.advance(20_000);
    expect(pings(end)).toBe(1);
  });

  it('closes with 4008 after a minute of silence; any frame is a sign of life', () => {
    const end = localEnd();
    end.greet();
    end.clock.advance(59_000);
    end.receive(Buffer.from([0x77, 0, 0, 0, 0]));
    end.clock.advance(59_000);
    expect(end.socket.closed).toBeUndefined();
    end.clock.advance(21_000);
    expect(end.socket.closed).toMatchObject({ code: 4008 });
  });

  it('reports a suspended machine by the clock', () => {
    const clock = manualClock();
    const socket = fakeSocket();
    let jumped = 0;
    const closes: unknown[] = [];
    const streams = createStreams({
      socket,
      clock: { ...clock, now: () => clock.now() + jumped },
      end: { hello: { device_id: 'd', instance_id: 'i', client_version: 'v' } },
      onClose: (close) => closes.push(close),
    });
    streams.receive(encodeWelcome(localEnd().welcome));
    jumped = 91_000;
    clock.advance(20_000);
    expect(closes).toEqual([{ code: 4008, reason: 'the machine was suspended', slept: true }]);
  });

  it('is not closed by a clock that was set back', () => {
    const end = localEnd();
    end.greet();
    end.clock.setBack(3_600_000);
    end.clock.advance(20_000);
    expect(end.socket.closed).toBeUndefined();
  });

  it('closes the tunnel if the check before a ping fails', () => {
    const clock = manualClock();
    const socket = fakeSocket();
    const streams = createStreams({
      socket,
      clock,
      end: { hello: { device_id: 'd', instance_id: 'i', client_version: 'v' } },
      onTick() {
        throw new Error('the lease is lost');
      },
    });
    streams.receive(encodeWelcome(localEnd().welcome));
    clock.advance(20_000);
    expect(socket.closed).toEqual({ code: 4000, reason: 'the lease is lost' });
  });

  it('accepts no heartbeat of the relay that is shorter than a second', () => {
    const end = localEnd();
    end.receive(encodeWelcome({ ...end.welcome, heartbeat_ms: 1 }));
    end.clock.advance(2000);
    expect(pings(end)).toBe(2);
  });
});
