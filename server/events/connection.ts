/** One WebSocket connection: handles its request frames, sends their acks, and closes it. */
import type { ErrorName } from '#server/errors/catalogue.ts';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { isRecord, tryParseJson } from '#server/text/json.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Connection } from '#schema/rest/connection.ts';
import type { FrameId } from '#schema/frames/request-frames.ts';
import { iso } from '#schema/scalars.ts';
import { REPLAY_WINDOW_EVENTS } from './cursor.ts';
import { createDeliveryQueue } from './delivery-queue.ts';
import type { DeliveryTimes } from './delivery-queue.ts';
import type { Client, FrameHandler } from './frame-handler.ts';
import { createInbox } from './inbox.ts';
import { ackText, errorText, helloText, refusalText } from './outgoing.ts';
import type { OutgoingEvent } from './outgoing.ts';
import type { Peer, PeerInfo, PeerHandle } from './peer.ts';
import type { StreamSource } from './stream-source.ts';
import { subscriptionFrames } from './subscription-frames.ts';
import { createSubscriptions } from './subscriptions.ts';

export interface LiveConnection extends PeerHandle {
  readonly id: string;
  readonly secret: string | null;
  /** Returns the connection's entry of `GET /connections`. */
  describe(): Connection;
  /** Sends a live event that the connection is subscribed to. A failure closes this connection and is not thrown. */
  deliver(event: OutgoingEvent): void;
  /** Marks the end of the text delivered so far, so that later text is not merged into it. */
  seal(): void;
  /** Flushes until the socket's high-water mark, then closes it. */
  end(code: number, reason: string): void;
  /** Drops the socket of a client that does not complete the close handshake. */
  terminate(): void;
}

export interface ConnectionDeps {
  id: string;
  peer: Peer;
  facts: PeerInfo;
  times?: DeliveryTimes;
  /** Handlers that the domains registered, by frame type. */
  frames: ReadonlyMap<string, FrameHandler>;
  streams(sessionId: string): StreamSource;
  /** Emits the joined text of a session immediately. */
  flush(sessionId: string): void;
  /** Whether a token of a `client_hello` is valid. */
  acceptsToken(token: string): Promise<boolean>;
  onSubscriptionChange(connection: LiveConnection, sessionId: string, subscribed: boolean): void;
  log: Logger;
}

interface Refusal {
  error: ErrorName;
  msg: string;
  payload: object;
}

interface ReceivedFrame {
  type: string;
  /** Undefined when the frame has no valid id. */
  id: FrameId | undefined;
  payload: unknown;
}

/** Returns undefined when the data is not a JSON object with a string `type`. */
function parseFrame(data: Uint8Array | string): ReceivedFrame | undefined {
  const text = typeof data === 'string' ? data : Buffer.from(data.buffer, data.byteOffset, data.length).toString();
  const frame = tryParseJson(text);
  if (!isRecord(frame) || typeof frame.type !== 'string') return undefined;
  const { type, id, payload = {} } = frame;
  return { type, id: typeof id === 'string' || typeof id === 'number' ? id : undefined, payload };
}

function refusalOf(error: unknown): Refusal {
  if (!(error instanceof ServiceError)) {
    return { error: 'internal.error', msg: 'internal error', payload: { message: errorMessage(error) } };
  }
  const { name, message, data, details } = error;
  if (name === 'internal.error') return { error: name, msg: 'internal error', payload: { message } };
  return { error: name, msg: message, payload: isRecord(data) ? data : Array.isArray(details) ? { details } : {} };
}

/** Creates the connection of an accepted peer and sends its hello. */
export function createConnection(deps: ConnectionDeps): LiveConnection {
  const { id, facts, log } = deps;
  const connectedAt = Date.now();
  const releases = new Set<() => void>();
  let hasClientHello = false;
  let over = false;

  const peer = guardedPeer(deps.peer, fail);
  const queue = createDeliveryQueue({
    peer,
    times: deps.times,
    onCut: (sessionId) => subscriptions.cut(sessionId),
    onStalled() {
      log.warn('slow consumer closed', { connection_id: id });
      release();
    },
  });
  const subscriptions = createSubscriptions({
    queue,
    streams: deps.streams,
    flush: deps.flush,
    onChange: (sessionId, subscribed) => deps.onSubscriptionChange(connection, sessionId, subscribed),
    log,
  });
  const inbox = createInbox(peer);
  const own = subscriptionFrames({
    subscriptions,
    acceptsToken: deps.acceptsToken,
    onHello: () => (hasClientHello = true),
  });
  const handlers = new Map([...deps.frames, ...own.map((handler) => [handler.type, handler] as const)]);

  function attempt(released: () => void): void {
    try {
      released();
    } catch (error) {
      log.error('what a connection had opened could not be released', { connection_id: id, err: error });
    }
  }

  function release(): void {
    if (over) return;
    over = true;
    inbox.close();
    for (const released of releases) attempt(released);
    releases.clear();
    subscriptions.close();
    queue.close();
  }

  function end(code: number, reason: string): void {
    if (over) return;
    release();
    peer.close(code, reason);
  }

  /** A failed socket or delivery has lost frames; dropping the socket makes the client reconnect and resume. */
  function fail(error: unknown): void {
    if (over) return;
    log.error('connection dropped', { connection_id: id, err: error });
    release();
    peer.terminate();
  }

  const client: Client = {
    id,
    connection: facts.connection,
    send: (lane, text) => queue.sendNow(text, lane),
    room: queue.room,
    onClose(released) {
      // Deferred, because callers register the release before they open the resource.
      if (over) queueMicrotask(() => attempt(released));
      else releases.add(released);
    },
    session: subscriptions.channel,
  };

  function refuse(frameId: FrameId, { error, msg, payload }: Refusal): void {
    queue.sendNow(refusalText(frameId, error, msg, payload), 'answer');
    if (error !== 'auth.unauthorized') return;
    queue.sendNow(errorText('auth.unauthorized', 'Unauthorized', true));
    end(1008, 'Unauthorized');
  }

  /** Runs one request frame and sends its ack. */
  async function answer(handler: FrameHandler, { type, id: frameId = '', payload }: ReceivedFrame): Promise<void> {
    try {
      const outcome = await handler.answer(payload, client);
      if (outcome !== undefined) queue.sendNow(ackText(frameId, outcome), 'answer');
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal.error === 'internal.error') log.error('frame failed', { connection_id: id, type, err: error });
      const own = refusal.error === 'validation.failed' ? undefined : handler.refusal;
      refuse(frameId, { ...refusal, payload: own ?? refusal.payload });
    }
  }

  async function handle(frame: ReceivedFrame | undefined, handler: FrameHandler | undefined): Promise<void> {
    // Backpressure: a client that does not read gets a bounded number of acks, and none that may be long.
    await (handler?.atLength ? queue.room() : queue.answerRoom());
    if (over) return;
    if (handler && frame) await answer(handler, frame);
    else if (!frame) {
      queue.sendNow(
        errorText('validation.failed', 'A frame must be a JSON object with a string type', false),
        'answer',
      );
    } else if (frame.id !== undefined) {
      refuse(frame.id, { error: 'validation.failed', msg: `unsupported frame type: ${frame.type}`, payload: {} });
    }
  }

  const connection: LiveConnection = {
    id,
    secret: facts.secret,
    describe: () => ({
      id,
      connected_at: iso(connectedAt),
      remote_address: facts.remoteAddress,
      user_agent: facts.userAgent,
      has_client_hello: hasClientHello,
      subscriptions: subscriptions.list(),
    }),
    deliver(event) {
      try {
        subscriptions.deliver(event);
      } catch (error) {
        fail(error);
      }
    },
    seal: queue.seal,
    end,
    terminate: peer.terminate,
    message(data) {
      const frame = parseFrame(data);
      if (frame?.type === 'pong') return;
      const handler = frame && handlers.get(frame.type);
      inbox.push(handler?.lane ?? 'ordinary', data.length, () => handle(frame, handler));
    },
    closed: release,
  };
  queue.sendNow(helloText(id, REPLAY_WINDOW_EVENTS));
  return connection;
}

/** Wraps the peer so that failures of its calls are reported to `onFailure` only. */
function guardedPeer(peer: Peer, onFailure: (error: unknown) => void): Peer {
  function guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      onFailure(error);
    }
  }
  return {
    send: (data) => guarded(() => peer.send(data)),
    close: (code, reason) => guarded(() => peer.close(code, reason)),
    terminate: () => guarded(() => peer.terminate()),
    bufferedAmount: () => peer.bufferedAmount(),
    pause: () => guarded(() => peer.pause()),
    resume: () => guarded(() => peer.resume()),
  };
}
