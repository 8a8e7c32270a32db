/** One tunnel: a WebSocket to the relay, and the streams on it. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { quotable } from '#server/account/cloud-errors.ts';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { dispatcherOptions } from '#server/net/dispatcher.ts';
import { loadUndici } from '#server/net/load-undici.ts';
import { closeCode, MAX_FRAME_BYTES, SUBPROTOCOL, type GoAway, type OpenFacts } from '#server/net/streams/frames.ts';
import { createStreams, type HelloFacts, type Streams } from '#server/net/streams/streams.ts';

const CONNECT_MS = 10_000;
const WELCOME_MS = 10_000;
/** Time for the relay's close frame, after which the connection is cut. */
const CLOSE_MS = 2000;
/** Time that a stop leaves the open streams. */
const STREAMS_MS = 2000;
/** Time after a GOAWAY of the relay until it has to close the tunnel. */
const GOAWAY_MS = 10_000;
/** Close code of a connection that was lost. */
const LOST = 1006;

/** How a tunnel ended. */
export interface TunnelEnd {
  /** Close code of the WebSocket; 1006 without one. */
  code: number;
  /** For people. No text of the relay has the ticket. */
  reason: string;
  /** The relay announced the end. */
  goAway: GoAway | undefined;
  /** The machine was suspended. */
  slept: boolean;
  /** Milliseconds since WELCOME; 0 without it. */
  connectedMs: number;
}

export interface Tunnel {
  /** Resolves when the tunnel has ended, with or without WELCOME. */
  readonly ended: Promise<TunnelEnd>;
  /** Resolves when all bytes were written, or the tunnel has ended. */
  flushed(): Promise<void>;
  /** Announces the end, waits `graceMs` (default: 2 s) for open streams, and closes. */
  stop(graceMs?: number): Promise<void>;
}

export interface TunnelOptions {
  url: string;
  ticket: string;
  headers: Record<string, string>;
  hello: HelloFacts;
  clock: Clock;
  onWelcome(): void;
  onStream(stream: Duplex, facts: OpenFacts): void;
  /** Called before each ping; an exception ends the tunnel with 4000. */
  onTick(): void;
}

/** Starts to connect, through the proxy of the environment. */
export async function openTunnel(options: TunnelOptions): Promise<Tunnel> {
  const { url, ticket, headers, hello, clock } = options;
  const undici = await loadUndici();
  const dispatcher = new undici.EnvHttpProxyAgent(
    dispatcherOptions({ connectMs: CONNECT_MS, firstByteMs: CONNECT_MS, idleMs: 0 }),
  );
  // This dispatcher does not pass the option on. A longer message fails the connection before it is read.
  Object.defineProperty(dispatcher, 'webSocketOptions', {
    value: { maxPayloadSize: MAX_FRAME_BYTES, maxFragments: 16 },
  });

  let streams: Streams | undefined;
  let goAway: GoAway | undefined;
  let welcomedAt: number | undefined;
  let settle: (end: TunnelEnd) => void = () => undefined;
  let isEnded = false;
  const ended = new Promise<TunnelEnd>((resolve) => (settle = resolve));
  const socket = watchSocket(ticket);
  const webSocket = new undici.WebSocket(url, {
    protocols: [SUBPROTOCOL],
    dispatcher,
    headers: { ...headers, authorization: `Bearer ${ticket}` },
  });
  webSocket.binaryType = 'arraybuffer';
  let failure: string | undefined;
  let cancelTimer = clock.setTimeout(() => end(LOST, 'the relay could not be reached in time'), CONNECT_MS);

  function end(code: number, reason: string, slept = false): void {
    if (isEnded) return;
    isEnded = true;
    cancelTimer();
    streams?.lost();
    const connectedMs = welcomedAt === undefined ? 0 : clock.now() - welcomedAt;
    settle({ code, reason: quotable(reason, [ticket]), goAway, slept, connectedMs });
    cut();
  }

  /** Releases the connection; a relay that does not answer the close frame would keep it open. */
  function cut(): void {
    const destroy = () => {
      socket.destroy();
      void dispatcher.destroy().catch(() => undefined);
    };
    if (webSocket.readyState === webSocket.CLOSED) return destroy();
    const cancel = clock.setTimeout(destroy, CLOSE_MS);
    webSocket.addEventListener('close', () => (cancel(), destroy()));
    if (webSocket.readyState === webSocket.CONNECTING) webSocket.close();
  }

  function connected(): void {
    cancelTimer();
    socket.found();
    cancelTimer = clock.setTimeout(() => close(closeCode.protocol, 'no WELCOME in time'), WELCOME_MS);
    streams = createStreams({
      socket: {
        send: (message) => webSocket.send(message),
        get bufferedAmount() {
          return webSocket.bufferedAmount;
        },
        close: (code, reason) => webSocket.close(code, reason),
      },
      clock,
      end: { hello },
      onReady() {
        cancelTimer();
        welcomedAt = clock.now();
        options.onWelcome();
      },
      onStream: options.onStream,
      onTick: options.onTick,
      onGoAway({ message, ...announced }) {
        goAway = { ...announced, ...(message !== undefined && { message: quotable(message, [ticket]) }) };
        cancelTimer();
        cancelTimer = clock.setTimeout(() => close(closeCode.stopped, 'the relay went away'), GOAWAY_MS);
      },
      onClose: ({ code, reason, slept }) => end(code, reason, slept),
    });
    if (webSocket.protocol !== SUBPROTOCOL) close(closeCode.protocol, 'the relay speaks another protocol');
  }

  function close(code: number, reason: string): void {
    if (streams) streams.close(code, reason);
    else end(code, reason);
  }

  webSocket.addEventListener('open', connected);
  webSocket.addEventListener('message', ({ data }) => {
    streams?.receive(typeof data === 'string' ? data : Buffer.from(data as ArrayBuffer));
  });
  webSocket.addEventListener('error', ({ error, message }) => {
    failure ??= message || errorMessage(error);
  });
  webSocket.addEventListener('close', ({ code, reason }) => {
    end(code, reason || failure || 'the connection to the relay was lost');
  });

  return {
    ended,
    flushed: () => streams?.flushed() ?? Promise.resolve(),
    async stop(graceMs = STREAMS_MS) {
      if (streams && !isEnded) {
        streams.goAway({ reason: 'local_server_stopped' });
        await atMost(clock, graceMs, Promise.race([streams.ended(), ended]));
      }
      close(closeCode.stopped, 'stopped');
    },
  };
}

/** Resolves when the promise settles, or after `ms` of the clock. */
export function atMost(clock: Clock, ms: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.setTimeout(resolve, ms);
    const settle = () => (cancel(), resolve());
    promise.then(settle, settle);
  });
}

interface SocketWatch {
  /** The connection is open. */
  found(): void;
  /** Cuts the connection. */
  destroy(): void;
}

const SENT_HEADERS = 'undici:client:sendHeaders';

/**
 * Finds the socket of the WebSocket by its ticket: undici's interface has no function that cuts the connection of a peer
 * which does not answer a close frame.
 */
function watchSocket(ticket: string): SocketWatch {
  let socket: Socket | undefined;
  const line = `\r\nauthorization: Bearer ${ticket}\r\n`;
  const onHeaders = (message: unknown) => {
    const { headers, socket: used } = message as { headers: string; socket: Socket };
    // The whole line: other requests may contain any text that a relay chooses as ticket.
    if (headers.includes(line)) socket = used;
  };
  subscribe(SENT_HEADERS, onHeaders);
  const found = () => void unsubscribe(SENT_HEADERS, onHeaders);
  return {
    found,
    destroy() {
      found();
      socket?.destroy();
    },
  };
}
