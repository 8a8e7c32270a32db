/**
 * Multiplexer: carries many byte streams over one WebSocket, with credit per stream and direction. Both ends use it; the
 * relay opens the streams. It knows nothing of what the streams carry.
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import {
  closeCode,
  encodeGoAway,
  encodeHello,
  encodeOpen,
  encodePing,
  encodeReset,
  encodeWelcome,
  encodeWindow,
  ProtocolError,
  readFrame,
  type Frame,
  type GoAway,
  type Hello,
  type OpenFacts,
  type Welcome,
} from './frames.ts';
import { startHeartbeat, type Heartbeat } from './heartbeat.ts';
import { TunnelStream, type StreamLink } from './tunnel-stream.ts';

export interface StreamLimits {
  /** Streams at a time. */
  maxStreams: number;
  /** Bytes in flight per stream and direction. */
  window: number;
  /** Between two pings. */
  heartbeatMs: number;
}

export const STREAM_LIMITS: StreamLimits = { maxStreams: 128, window: 262_144, heartbeatMs: 20_000 };

/** The subset of a WebSocket that the multiplexer uses. */
export interface TunnelSocket {
  send(message: Uint8Array): void;
  /** Bytes passed to `send` that were not written yet. */
  readonly bufferedAmount: number;
  close(code: number, reason: string): void;
}

export type HelloFacts = Pick<Hello, 'device_id' | 'instance_id' | 'client_version'>;

export interface StreamsOptions {
  socket: TunnelSocket;
  clock: Clock;
  /** The smaller of each limit and the peer's applies. */
  limits?: StreamLimits;
  /** The role of this end: the local server sends HELLO with these facts, the relay answers WELCOME and opens streams. */
  end: { hello: HelloFacts } | { tunnelId: string };
  /** HELLO and WELCOME have been exchanged. */
  onReady?(peer: Hello | Welcome): void;
  /** The relay has opened a stream. It must be read, ended or destroyed. */
  onStream?(stream: Duplex, facts: OpenFacts): void;
  onGoAway?(goAway: GoAway): void;
  /** Before each ping; an exception closes the tunnel with 4000. */
  onTick?(): void;
  /** This end closed the tunnel because of `code`. `slept`: the machine was suspended. Not called after `lost`. */
  onClose?(close: { code: number; reason: string; slept: boolean }): void;
}

export interface Streams {
  /** A message of the WebSocket; a string for a text message. */
  receive(message: Buffer | string): void;
  /** The WebSocket has closed or failed: destroys all streams. */
  lost(): void;
  /** Opens a stream (the relay's end only). Throws `RangeError` beyond the limit of streams. */
  open(facts: OpenFacts): Duplex;
  /** Announces the end of the tunnel; streams that the peer opens from now on are refused. */
  goAway(goAway: GoAway): void;
  close(code: number, reason: string): void;
  /** Number of streams that are not closed. */
  readonly size: number;
  /** Resolves when no stream is open. */
  ended(): Promise<void>;
  /** Resolves when the WebSocket has written all bytes, or the tunnel is closed. */
  flushed(): Promise<void>;
}

/** No DATA is sent while more bytes are buffered, until `RESUME_BYTES` are left. */
const PAUSE_BYTES = 4 * 1024 * 1024;
const RESUME_BYTES = 1024 * 1024;
/** A peer that causes control frames and reads none: the tunnel is closed. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
const POLL_MS = 5;
/** DATA sent before other work of the event loop gets its turn. */
const TURN_BYTES = 1024 * 1024;
const MAX_OPENS_PER_SECOND = 1000;
const SECOND_MS = 1000;
/** A close frame has 125 bytes at most, two of them for the code; a character that is cut off becomes three bytes. */
const MAX_REASON_BYTES = 120;

/** Starts one end of a tunnel on an open WebSocket. */
export function createStreams(options: StreamsOptions): Streams {
  const { socket, clock, end, limits = STREAM_LIMITS } = options;
  const isLocal = 'hello' in end;
  const announced = { max_streams: limits.maxStreams, window: limits.window };
  let { maxStreams, window } = limits;
  let isReady = false;
  let isClosed = false;
  /** No new streams, because of a GOAWAY of either end. */
  let isGoing = false;
  let lastId = 0;
  /** Streams that frames can arrive for. */
  const receiving = new Map<number, TunnelStream>();
  /** Streams that may have memory; those of a lost tunnel are still read. */
  const unreleased = new Set<number>();
  const ready = new Set<TunnelStream>();
  let isPumping = false;
  let isPaused = false;
  let opens = { since: 0, count: 0 };
  let heartbeat: Heartbeat | undefined;
  let whenEnded: (() => void)[] = [];

  function control(frame: Buffer): void {
    if (isClosed) return;
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) return close(closeCode.protocol, 'the peer reads no frames');
    socket.send(frame);
  }

  const link: StreamLink = {
    clock,
    get window() {
      return window;
    },
    abortCode: isLocal ? 'local_error' : 'cancel',
    keepsReceived: !isLocal,
    ready(stream) {
      if (isClosed) return;
      ready.add(stream);
      pump();
    },
    grant: (id, bytes) => control(encodeWindow(id, bytes)),
    reset: (id, reset) => control(encodeReset(id, reset)),
    finished: (id) => void receiving.delete(id),
    released(stream) {
      receiving.delete(stream.id);
      unreleased.delete(stream.id);
      ready.delete(stream);
      if (unreleased.size > 0) return;
      for (const resolve of whenEnded) resolve();
      whenEnded = [];
    },
  };

  /** Sends DATA and END frames, one of each stream in turn. */
  function pump(): void {
    if (isPumping || isPaused) return;
    isPumping = true;
    try {
      let sent = 0;
      for (const stream of ready) {
        if (socket.bufferedAmount > PAUSE_BYTES) return pauseUntilWritten();
        if (sent > TURN_BYTES) return pauseForTurn();
        ready.delete(stream);
        const taken = stream.takeFrame();
        if (!taken) continue;
        socket.send(taken.frame);
        sent += taken.frame.length;
        // As the last one, so that the iteration arrives at it again after the others.
        ready.add(stream);
        taken.sent();
      }
    } finally {
      isPumping = false;
    }
  }

  function resume(): void {
    isPaused = false;
    pump();
  }

  function pauseForTurn(): void {
    isPaused = true;
    setImmediate(resume);
  }

  function pauseUntilWritten(): void {
    isPaused = true;
    poll(() => socket.bufferedAmount < RESUME_BYTES, resume);
  }

  /** A WebSocket has no event for its buffer. */
  function poll(isOver: () => boolean, then: () => void): void {
    const timer = setInterval(() => {
      if (!isOver() && !isClosed) return;
      clearInterval(timer);
      then();
    }, POLL_MS).unref();
  }

  function createStream(id: number, facts: OpenFacts): TunnelStream {
    lastId = id;
    const stream = new TunnelStream(id, facts, link);
    receiving.set(id, stream);
    unreleased.add(id);
    return stream;
  }

  function acceptStream(id: number, facts: OpenFacts): void {
    if (!isLocal) throw new ProtocolError('OPEN from the local end');
    if (id <= lastId) throw new ProtocolError(`OPEN of stream ${id} after ${lastId}`);
    lastId = id;
    const now = clock.now();
    if (Math.abs(now - opens.since) >= SECOND_MS) opens = { since: now, count: 0 };
    opens.count += 1;
    if (isGoing || unreleased.size >= maxStreams || opens.count > MAX_OPENS_PER_SECOND) {
      return control(encodeReset(id, { code: 'refused' }));
    }
    options.onStream?.(createStream(id, facts), facts);
  }

  /** The first frame of the peer. A relay that refuses the tunnel sends GOAWAY instead, and then its close code. */
  function greeted(frame: Frame | undefined): void {
    if (isLocal && frame?.type === 'goaway') return handle(frame);
    const hello = frame?.type === 'hello' && !isLocal ? frame.hello : undefined;
    const welcome = frame?.type === 'welcome' && isLocal ? frame.welcome : undefined;
    const peer = hello ?? welcome;
    if (!peer) throw new ProtocolError('the first frame is neither HELLO nor WELCOME');
    maxStreams = Math.min(maxStreams, peer.max_streams);
    window = Math.min(window, peer.window);
    isReady = true;
    const { heartbeatMs } = limits;
    if (!isLocal) {
      control(encodeWelcome({ protocol: 1, tunnel_id: end.tunnelId, heartbeat_ms: heartbeatMs, ...announced }));
    }
    heartbeat = startHeartbeat({
      clock,
      intervalMs: Math.min(heartbeatMs, Math.max(welcome?.heartbeat_ms ?? heartbeatMs, SECOND_MS)),
      ping(token) {
        options.onTick?.();
        control(encodePing('ping', token));
      },
      onLost: (reason, slept) => close(closeCode.heartbeatLost, reason, slept),
      onError: (error) => close(closeCode.stopped, errorMessage(error)),
    });
    options.onReady?.(peer);
  }

  /** The stream of a frame; undefined if it has finished. */
  function streamOf(id: number): TunnelStream | undefined {
    if (id > lastId) throw new ProtocolError(`a frame for stream ${id}, which was never opened`);
    return receiving.get(id);
  }

  function handle(frame: Frame): void {
    switch (frame.type) {
      case 'ping':
        return control(encodePing('pong', frame.token));
      case 'pong':
        return;
      case 'goaway':
        isGoing = true;
        return options.onGoAway?.(frame.goAway);
      case 'open':
        return acceptStream(frame.id, frame.facts);
      case 'data':
        return streamOf(frame.id)?.receiveData(frame.data);
      case 'window':
        return streamOf(frame.id)?.receiveWindow(frame.bytes);
      case 'end':
        return streamOf(frame.id)?.receiveEnd();
      case 'reset':
        return streamOf(frame.id)?.receiveReset(frame.reset);
      default:
        throw new ProtocolError(`a second ${frame.type.toUpperCase()}`);
    }
  }

  function lost(): void {
    if (isClosed) return;
    isClosed = true;
    heartbeat?.stop();
    ready.clear();
    for (const stream of receiving.values()) stream.receiveReset({ code: 'lost', message: 'the tunnel was lost' });
  }

  function close(code: number, reason: string, slept = false): void {
    if (isClosed) return;
    lost();
    socket.close(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString());
    options.onClose?.({ code, reason, slept });
  }

  if (isLocal) control(encodeHello({ protocol: 1, ...end.hello, ...announced }));

  return {
    receive(message) {
      if (isClosed) return;
      heartbeat?.alive();
      try {
        if (typeof message === 'string') throw new ProtocolError('a text message');
        const frame = readFrame(message);
        if (!isReady) greeted(frame);
        else if (frame) handle(frame);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        close(closeCode.protocol, error.message);
      }
    },
    lost,
    open(facts) {
      if (isLocal) throw new TypeError('only the relay opens streams');
      if (!isReady || isClosed || isGoing || unreleased.size >= maxStreams) throw new RangeError('too many streams');
      const id = lastId + 1;
      control(encodeOpen(id, facts));
      return createStream(id, facts);
    },
    goAway(goAway) {
      isGoing = true;
      control(encodeGoAway(goAway));
    },
    close,
    get size() {
      return unreleased.size;
    },
    ended: () => (unreleased.size === 0 ? Promise.resolve() : new Promise((resolve) => whenEnded.push(resolve))),
    flushed: () =>
      new Promise((resolve) => {
        if (isClosed || socket.bufferedAmount === 0) resolve();
        else poll(() => socket.bufferedAmount === 0, resolve);
      }),
  };
}
