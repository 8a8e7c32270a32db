/** One WebSocket connection: its frames, their acks, its end (ws-events.md §1.3, §1.4, §5). */
import type { z } from 'zod';
import type { ErrorName } from '#server/errors/catalogue.ts';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Connection } from '#schema/connection.ts';
import { pingPayloadSchema, requestFrames } from '#schema/frames.ts';
import type { AckPayload, Cursor, FrameId, RequestPayload, RequestType } from '#schema/frames.ts';
import { iso } from '#schema/scalars.ts';
import type { AgentFilter } from './agent-filter.ts';
import { REPLAY_WINDOW_EVENTS } from './cursor.ts';
import { createDeliveryQueue } from './delivery-queue.ts';
import type { DeliveryTimes } from './delivery-queue.ts';
import type { StreamPosition } from './frame.ts';
import { createInbox } from './inbox.ts';
import { ackText, errorText, helloText, pongText, refusalText } from './outgoing.ts';
import type { OutgoingEvent } from './outgoing.ts';
import type { PromptAborter, StreamSource } from './stream-source.ts';
import { createSubscriptions } from './subscriptions.ts';
import type { Peer, PeerFacts, PeerHandle } from './peer.ts';

export interface LiveConnection extends PeerHandle {
  readonly id: string;
  /** As `GET /connections` shows it. */
  describe(): Connection;
  /** Sends a live event, if it is one for this connection. */
  deliver(event: OutgoingEvent): void;
  /** Sends what the socket takes, then closes it. */
  end(code: number, reason: string): void;
  /** Drops a client that does not take part in the closing. */
  terminate(): void;
}

export interface ConnectionDeps {
  id: string;
  peer: Peer;
  facts: PeerFacts;
  times?: DeliveryTimes;
  streams(sessionId: string): StreamSource | undefined;
  aborter(): PromptAborter | undefined;
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

/** The same table, typed so that a request type finds its own payload. */
const requests: { [T in RequestType]: { payload: z.ZodType<RequestPayload<T>> } } = requestFrames;

type Requested = Pick<RequestPayload<'subscribe'>, 'cursors' | 'agent_filter'>;

/** Entries of client-made records are read as own members only. */
function ownEntry<T>(record: Record<string, T> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRequestType(type: string): type is RequestType {
  return Object.hasOwn(requestFrames, type);
}

function invalidPayload(error: z.ZodError): Refusal {
  const details = error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  const [first] = details;
  const reason = first?.path ? `${first.path}: ${first.message}` : (first?.message ?? 'Invalid input');
  return { error: 'validation.failed', msg: `Invalid payload: ${reason}`, payload: { details } };
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
  const { id, peer, facts, aborter, acceptsToken, log } = deps;
  const connectedAt = Date.now();
  let hasClientHello = false;
  let over = false;

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
    onChange: (sessionId, subscribed) => deps.onSubscriptionChange(connection, sessionId, subscribed),
    log,
  });
  const inbox = createInbox(peer, handle);

  function release(): void {
    over = true;
    inbox.close();
    subscriptions.close();
    queue.close();
  }

  function end(code: number, reason: string): void {
    if (over) return;
    release();
    peer.close(code, reason);
  }

  async function subscribeAll(ids: string[], { cursors, agent_filter: filters }: Requested) {
    const accepted = new Map<string, StreamPosition>();
    const unknown = new Set<string>();
    const resync = new Set<string>();
    for (const sessionId of ids) {
      const cursor: Cursor | undefined = ownEntry(cursors, sessionId);
      const agents = ownEntry(filters, sessionId);
      const filter: AgentFilter = agents && new Set(agents);
      const outcome = await subscriptions.subscribe(sessionId, cursor, filter);
      if (!outcome) unknown.add(sessionId);
      else accepted.set(sessionId, outcome.position);
      if (outcome?.resync) resync.add(sessionId);
    }
    return { accepted: [...accepted.keys()], unknown, resync, watermarks: Object.fromEntries(accepted) };
  }

  const handlers: { [T in RequestType]: (payload: RequestPayload<T>) => Promise<AckPayload<T> | Refusal> } = {
    async client_hello(payload) {
      if (payload.token !== undefined && !(await acceptsToken(payload.token))) {
        return { error: 'auth.unauthorized', msg: 'Unauthorized', payload: {} };
      }
      hasClientHello = true;
      const { accepted, unknown, resync, watermarks } = await subscribeAll(payload.subscriptions ?? [], payload);
      return {
        accepted_subscriptions: accepted,
        resync_required: [...unknown, ...resync],
        cursors: watermarks,
      };
    },
    async subscribe(payload) {
      const { accepted, unknown, resync, watermarks } = await subscribeAll(payload.session_ids, payload);
      return { accepted, not_found: [...unknown], resync_required: [...resync], cursors: watermarks };
    },
    async unsubscribe(payload) {
      for (const sessionId of payload.session_ids) subscriptions.unsubscribe(sessionId);
      return { accepted: [], not_found: [], resync_required: [] };
    },
    async abort(payload) {
      const prompts = aborter();
      if (!prompts) throw new ServiceError('session.not_found', `session ${payload.session_id} does not exist`);
      return prompts.abort(payload.session_id, payload.prompt_id);
    },
  };

  /** Runs one request frame and sends its ack. */
  async function answer<T extends RequestType>(type: T, frameId: FrameId, payload: unknown): Promise<void> {
    let outcome: AckPayload<T> | Refusal;
    try {
      const parsed = requests[type].payload.safeParse(payload);
      outcome = parsed.success ? await handlers[type](parsed.data) : invalidPayload(parsed.error);
    } catch (error) {
      outcome = refusalOf(error);
      if (outcome.error === 'internal.error') log.error('frame failed', { connection_id: id, type, err: error });
    }
    if ('error' in outcome) {
      queue.sendNow(refusalText(frameId, outcome.error, outcome.msg, outcome.payload));
      if (outcome.error === 'auth.unauthorized') {
        queue.sendNow(errorText('auth.unauthorized', 'Unauthorized', true));
        end(1008, 'Unauthorized');
      }
    } else queue.sendNow(ackText(frameId, outcome));
  }

  function answerPing(frameId: FrameId, payload: unknown): void {
    const parsed = pingPayloadSchema.safeParse(payload);
    if (parsed.success) queue.sendNow(pongText(parsed.data.nonce ?? ''));
    else {
      const { error, msg, payload: details } = invalidPayload(parsed.error);
      queue.sendNow(refusalText(frameId, error, msg, details));
    }
  }

  async function handle(text: string): Promise<void> {
    // A client that does not read gets no further answers, so that they cannot pile up.
    await queue.room();
    if (over) return;
    let frame: unknown;
    try {
      frame = JSON.parse(text);
    } catch {
      frame = undefined;
    }
    if (!isRecord(frame) || typeof frame.type !== 'string') {
      queue.sendNow(errorText('validation.failed', 'A frame must be a JSON object with a string type', false));
      return;
    }
    const { type, payload = {} } = frame;
    const given = typeof frame.id === 'string' || typeof frame.id === 'number' ? frame.id : undefined;
    if (isRequestType(type)) await answer(type, given ?? '', payload);
    else if (type === 'ping') answerPing(given ?? '', payload);
    else if (type !== 'pong' && given !== undefined) {
      queue.sendNow(refusalText(given, 'validation.failed', `unsupported frame type: ${type}`, {}));
    }
  }

  const connection: LiveConnection = {
    id,
    describe: () => ({
      id,
      connected_at: iso(connectedAt),
      remote_address: facts.remoteAddress,
      user_agent: facts.userAgent,
      has_client_hello: hasClientHello,
      subscriptions: subscriptions.list(),
    }),
    deliver: subscriptions.deliver,
    end,
    terminate: peer.terminate,
    message: inbox.push,
    closed: release,
  };
  queue.sendNow(helloText(id, REPLAY_WINDOW_EVENTS));
  return connection;
}
