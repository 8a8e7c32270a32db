/** Two ends of a tunnel in one process, on a WebSocket that a test can stop, read and forge. */
import type { Duplex } from 'node:stream';
import type { OpenFacts } from '#server/net/streams/frames.ts';
import { readFrame, type Frame } from '#server/net/streams/frames.ts';
import { createStreams, type Streams, type StreamsOptions, type TunnelSocket } from '#server/net/streams/streams.ts';
import { systemClock, type Clock } from '#server/clock.ts';

export const FACTS: OpenFacts = {
  remote_addr: '203.0.113.7',
  scheme: 'https',
  host: 'relay.test',
  prefix: '/devices/a',
};

export interface FakeSocket extends TunnelSocket {
  /** Messages that were sent and not delivered. */
  sent: Buffer[];
  /** Removes the messages, as if they were delivered. */
  take(): Buffer[];
  /** Undelivered bytes at most so far. */
  mostBuffered: number;
  closed: { code: number; reason: string } | undefined;
}

/** A socket that stores what is sent. */
export function fakeSocket(onSend: () => void = () => undefined): FakeSocket {
  let buffered = 0;
  const socket: FakeSocket = {
    sent: [],
    mostBuffered: 0,
    closed: undefined,
    get bufferedAmount() {
      return buffered;
    },
    send(message) {
      // The multiplexer does not use the message again, as with a real WebSocket.
      socket.sent.push(message as Buffer);
      buffered += message.length;
      socket.mostBuffered = Math.max(socket.mostBuffered, buffered);
      onSend();
    },
    take() {
      buffered = 0;
      return socket.sent.splice(0);
    },
    close(code, reason) {
      socket.closed ??= { code, reason };
    },
  };
  return socket;
}

export interface End {
  streams: Streams;
  socket: FakeSocket;
  /** Frames of this end in the order of their delivery. */
  frames: Frame[];
}

export interface Pair {
  local: End;
  relay: End;
  /** Streams that the local end has accepted. */
  accepted: Duplex[];
  /** Stops and continues the delivery to an end. */
  hold(to: 'local' | 'relay'): void;
  release(to: 'local' | 'relay'): void;
}

export interface PairOptions {
  clock?: Clock;
  limits?: StreamsOptions['limits'];
  onStream?: (stream: Duplex, facts: OpenFacts) => void;
}

/** Connects two ends; messages are delivered in later turns of the event loop, in order. */
export function tunnelPair({ clock = systemClock, limits, onStream }: PairOptions = {}): Pair {
  const accepted: Duplex[] = [];
  const held = { local: false, relay: false };
  let scheduled = false;

  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(deliver);
  };
  const localSocket = fakeSocket(schedule);
  const relaySocket = fakeSocket(schedule);
  const common = { clock, ...(limits && { limits }) };
  const relay: End = {
    socket: relaySocket,
    frames: [],
    streams: createStreams({ ...common, socket: relaySocket, end: { tunnelId: 't1' } }),
  };
  const local: End = {
    socket: localSocket,
    frames: [],
    streams: createStreams({
      ...common,
      socket: localSocket,
      end: { hello: { device_id: 'd1', instance_id: 'i1', client_version: 'test/1' } },
      onStream(stream, facts) {
        accepted.push(stream);
        onStream?.(stream, facts);
      },
    }),
  };

  function move(from: End, to: End): void {
    for (const message of from.socket.take()) {
      const frame = readFrame(message);
      if (frame) from.frames.push(frame);
      to.streams.receive(message);
    }
    if (from.socket.closed) to.streams.lost();
  }

  function deliver(): void {
    scheduled = false;
    if (!held.relay) move(local, relay);
    if (!held.local) move(relay, local);
  }

  return {
    local,
    relay,
    accepted,
    hold: (to) => void (held[to] = true),
    release(to) {
      held[to] = false;
      schedule();
    },
  };
}

/** All bytes until the end. Unlike an iteration, it does not destroy the stream. */
export function received(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    stream.once('end', () => resolve(Buffer.concat(chunks)));
    stream.once('error', reject);
  });
}
