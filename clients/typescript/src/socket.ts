/** The WebSocket, reopened automatically: requests with acks, events, reconnect and probes. */
import { ApiError, ConnectionError } from './errors.ts';
import { createSignal, type Signal } from './signal.ts';
import type { Ack, AckPayload, EventFrame, FrameType, RequestPayload, RequestType, ServerFrames } from './frames.ts';
import type { CallOptions } from './operations.ts';

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
const JITTER_MS = 250;
const PROBE_TIMEOUT_MS = 10_000;
const SUBPROTOCOL = 'service-code.bearer.';
/** Close code for connections whose token was replaced. */
const REVOKED_CODE = 4401;

/** The subset of WebSocket that is used; implemented by browsers and the `ws` package. */
export interface SocketLike {
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(
    type: 'message' | 'close' | 'error',
    listener: (event: { type: string; data?: unknown; code?: number }) => void,
  ): void;
}
export type SocketConstructor = new (url: string, protocols?: string[]) => SocketLike;

/** `waiting` has the time of the next attempt, in milliseconds since the epoch; `refused` needs another token. */
export type Connection =
  | { kind: 'connecting' }
  | { kind: 'open' }
  | { kind: 'waiting'; retryAt: number }
  | { kind: 'refused' }
  | { kind: 'closed' };

export interface SocketOptions {
  url: string;
  token: () => string | undefined;
  WebSocket: SocketConstructor;
  /** First delay before a reconnect; it doubles up to 30 s. */
  firstDelayMs?: number;
  /** Time without a frame in either direction, after which the connection is probed; default: never. */
  idlePingMs?: number;
}

export interface Socket {
  readonly connection: Connection;
  /**
   * Calls the listener with each frame of the type, until the returned function is called. `resync_required` also
   * arrives for the global stream (`__global__`), when this client reads too slowly or was away for too long: lists must
   * be read again (`onGlobalResync`).
   */
  on<T extends FrameType>(type: T, listener: (frame: ServerFrames[T]) => void): () => void;
  /** Calls the listener with each event of a session or of the global stream; unknown types are to be ignored. */
  onEvent(listener: (frame: EventFrame) => void): () => void;
  /** Calls the listener with each later state of the connection. */
  onConnection(listener: (connection: Connection) => void): () => void;
  /**
   * Resolves with the ack's payload; rejects with ApiError, with ConnectionError when the connection breaks, or with the
   * signal's reason. An abort does not undo a frame that was sent.
   */
  request<T extends RequestType>(type: T, payload: RequestPayload<T>, options?: CallOptions): Promise<AckPayload<T>>;
  /**
   * Pings the server and reconnects when no reply arrives within 10 s; connects when waiting, or when the token differs
   * from the refused one.
   */
  probe(): void;
  /** Stops reconnecting until `probe()`: repeated attempts with a refused token would lead to a ban. */
  hold(): void;
  close(): void;
}

interface Waiter {
  answered(ack: Ack): void;
  reject(reason: unknown): void;
}

/** Opens the connection immediately and reopens it until `close()`. */
export function createSocket(options: SocketOptions): Socket {
  const signals = createSignals();
  const events = createSignal<EventFrame>();
  const connections = createSignal<Connection>();
  const waiters = new Map<string, Waiter>();
  const firstDelay = options.firstDelayMs ?? FIRST_DELAY_MS;
  let connection: Connection = { kind: 'connecting' };
  let socket: SocketLike | undefined;
  let delay = firstDelay;
  let lastId = 0;
  let refusedToken: string | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let probeTimer: ReturnType<typeof setTimeout> | undefined;
  let idleTimer: ReturnType<typeof setTimeout> | undefined;
  let lastFrameAt = 0;

  function announce(next: Connection) {
    connection = next;
    connections.emit(next);
  }

  function connect() {
    clearTimeout(retryTimer);
    const token = options.token();
    const current = new options.WebSocket(options.url, token === undefined ? [] : [SUBPROTOCOL + token]);
    socket = current;
    announce({ kind: 'connecting' });
    current.addEventListener('message', ({ data }) => {
      if (socket === current && typeof data === 'string') receive(data);
    });
    current.addEventListener('close', ({ code }) => {
      if (code === REVOKED_CODE) revoked(current, token);
      else lost(current);
    });
    // `close` always follows and handles it; without a listener `ws` throws on an error.
    current.addEventListener('error', () => {});
  }

  /** Probes the connection when it was idle, until it is lost. The timer is not restarted for each frame. */
  function watchIdle(idleMs: number, wait = idleMs) {
    idleTimer = setTimeout(() => {
      const left = lastFrameAt + idleMs - Date.now();
      if (left <= 0) probe();
      watchIdle(idleMs, left > 0 ? left : idleMs);
    }, wait);
  }

  function send(current: SocketLike, frame: object) {
    lastFrameAt = Date.now();
    current.send(JSON.stringify(frame));
  }

  function probe() {
    if (connection.kind === 'waiting') return connect();
    if (connection.kind === 'refused' && options.token() !== refusedToken) return connect();
    if (connection.kind !== 'open' || !socket || probeTimer !== undefined) return;
    const current = socket;
    send(current, { type: 'ping', payload: {} });
    probeTimer = setTimeout(() => {
      // A broken connection may take minutes to report its close, so this does not wait for it.
      current.close();
      lost(current);
    }, PROBE_TIMEOUT_MS);
  }

  function release() {
    socket = undefined;
    clearTimeout(idleTimer);
    clearTimeout(probeTimer);
    probeTimer = undefined;
    for (const waiter of waiters.values()) waiter.reject(new ConnectionError('The connection was lost'));
    waiters.clear();
  }

  /** The token of the connection was replaced: the server would treat another attempt with it as a guess. */
  function revoked(current: SocketLike, token: string | undefined) {
    if (socket !== current) return;
    release();
    if (connection.kind === 'closed') return;
    if (options.token() !== token) return connect();
    refusedToken = token;
    announce({ kind: 'refused' });
  }

  function lost(current: SocketLike) {
    if (socket !== current) return;
    release();
    if (connection.kind === 'closed') return;
    const wait = delay + Math.random() * JITTER_MS;
    delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    announce({ kind: 'waiting', retryAt: Date.now() + wait });
    retryTimer = setTimeout(connect, wait);
  }

  function receive(text: string) {
    lastFrameAt = Date.now();
    const frame: unknown = JSON.parse(text);
    if (isAck(frame)) {
      const waiter = waiters.get(frame.id);
      waiters.delete(frame.id);
      waiter?.answered(frame);
    } else if (isServerFrame(frame, signals)) emitFrame(signals, frame.type, frame);
    else if (isEvent(frame)) events.emit(frame);
  }

  signals.server_hello.listen(() => {
    delay = firstDelay;
    clearTimeout(idleTimer);
    if (options.idlePingMs !== undefined) watchIdle(options.idlePingMs);
    announce({ kind: 'open' });
  });
  signals.pong.listen(() => {
    clearTimeout(probeTimer);
    probeTimer = undefined;
  });
  connect();

  return {
    get connection() {
      return connection;
    },
    on: (type, listener) => signals[type].listen(listener),
    onEvent: events.listen,
    onConnection: connections.listen,
    request(type, payload, { signal } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (!socket || connection.kind !== 'open') return Promise.reject(new ConnectionError('Not connected'));
      lastId += 1;
      const id = String(lastId);
      const answer = new Promise<AckPayload<typeof type>>((resolve, reject) => {
        const answered = (ack: Ack) => {
          if (isSuccess(type, ack)) resolve(ack.payload);
          else reject(new ApiError(ack.code, ack.msg, { status: 200, data: ack.payload }));
        };
        waiters.set(id, { answered, reject });
      });
      send(socket, { type, id, payload });
      if (!signal) return answer;
      const onAbort = () => {
        waiters.get(id)?.reject(signal.reason);
        waiters.delete(id);
      };
      signal.addEventListener('abort', onAbort);
      return answer.finally(() => signal.removeEventListener('abort', onAbort));
    },
    probe,
    hold() {
      clearTimeout(retryTimer);
    },
    close() {
      clearTimeout(retryTimer);
      announce({ kind: 'closed' });
      const current = socket;
      if (current) lost(current);
      current?.close(1000);
    },
  };
}

type FrameSignals = { readonly [T in FrameType]: Signal<ServerFrames[T]> };

const createSignals = (): FrameSignals => ({
  server_hello: createSignal(),
  pong: createSignal(),
  resync_required: createSignal(),
  'event.fs.changed': createSignal(),
  terminal_output: createSignal(),
  terminal_exit: createSignal(),
  terminal_resized: createSignal(),
  'transcript.reset': createSignal(),
  'transcript.ops': createSignal(),
});

function emitFrame<T extends FrameType>(signals: FrameSignals, type: T, frame: ServerFrames[T]): void {
  signals[type].emit(frame);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isServerFrame(frame: unknown, signals: FrameSignals): frame is ServerFrames[FrameType] {
  return isObject(frame) && typeof frame['type'] === 'string' && Object.hasOwn(signals, frame['type']);
}

function isEvent(frame: unknown): frame is EventFrame {
  return (
    isObject(frame) &&
    typeof frame['session_id'] === 'string' &&
    typeof frame['seq'] === 'number' &&
    isObject(frame['payload'])
  );
}

function isAck(frame: unknown): frame is Ack & { id: string } {
  return isObject(frame) && frame['type'] === 'ack' && typeof frame['id'] === 'string';
}

/** A successful ack has the payload that belongs to the type of its request. */
function isSuccess<T extends RequestType>(_type: T, ack: Ack): ack is Ack & { payload: AckPayload<T> } {
  return ack.code === 0;
}
