/**
 * Subscriptions of one connection: its sessions with their agent filters, and the switch from replay to live delivery
 * at one position of a stream.
 */
import * as z from 'zod';
import type { Logger } from '#server/logging/log.ts';
import type { ResyncReason } from '#schema/frames/system.ts';
import type { Cursor } from '#schema/frames/subscriptions.ts';
import { passesFilter } from './agent-filter.ts';
import type { AgentFilter } from './agent-filter.ts';
import { decideCursor } from './cursor.ts';
import { QUEUED_BYTES, QUEUED_FRAMES_PER_SESSION } from './delivery-queue.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { Companion, SessionChannel } from './frame-handler.ts';
import { GLOBAL_STREAM, isGlobalEvent } from './frame.ts';
import type { StreamPosition } from './frame.ts';
import { resyncText } from './outgoing.ts';
import type { OutgoingEvent } from './outgoing.ts';
import type { StreamSource } from './stream-source.ts';

export interface SubscribeOutcome {
  /** Watermark at the point where live delivery starts. */
  position: StreamPosition;
  /** A `resync_required` was sent instead of a replay. */
  resync: boolean;
}

export interface Subscriptions {
  /**
   * Subscribes or replaces the filter, and replays the events after the cursor. Resolves when everything up to the
   * switch to live delivery is queued. Undefined for an unknown session.
   */
  subscribe(sessionId: string, cursor?: Cursor, filter?: AgentFilter): Promise<SubscribeOutcome | undefined>;
  unsubscribe(sessionId: string): void;
  /** The session's channel for a domain that sends frames of its own about the session. */
  channel(sessionId: string): SessionChannel;
  /** Queues a live event, or holds it until the running replay of its stream has finished. */
  deliver(event: OutgoingEvent): void;
  /** The queue dropped the session's frames: a running replay of it stops. */
  cut(sessionId: string): void;
  /** Ids of the subscribed sessions, sorted. */
  list(): string[];
  /** Ends all subscriptions and replays. */
  close(): void;
}

interface SubscriptionsDeps {
  queue: DeliveryQueue;
  streams(sessionId: string): StreamSource;
  /** Emits the joined text of a session immediately. */
  flush(sessionId: string): void;
  /** The session's first subscription was added, or its last one removed. */
  onChange(sessionId: string, subscribed: boolean): void;
  log: Logger;
}

interface Subscription {
  filter: AgentFilter;
  companion: Companion | undefined;
}

/** A running replay, and the live events that must not overtake it. */
interface Replay {
  /** Undefined until the session is loaded: loading one that crashed publishes events, which the replay contains. */
  position: StreamPosition | undefined;
  held: OutgoingEvent[];
  heldBytes: number;
  isCut: boolean;
}

const replayedFrame = z.object({ type: z.string(), payload: z.looseObject({}) });

/** Creates the subscriptions of one connection. */
export function createSubscriptions({ queue, streams, flush, onChange, log }: SubscriptionsDeps): Subscriptions {
  const subscribed = new Map<string, Subscription>();
  const replays = new Map<string, Replay>();
  let closed = false;

  /** The replay contains the durable events up to the switch, even those published after it. */
  function isAhead({ frame }: OutgoingEvent, position: StreamPosition): boolean {
    return frame.volatile === true || frame.epoch !== position.epoch || frame.seq > position.seq;
  }

  function send(event: OutgoingEvent): void {
    const { frame } = event;
    if (isGlobalEvent(frame.type)) queue.sendEvent(event, true);
    else if (passes(subscribed.get(frame.sessionId), frame)) queue.sendEvent(event, false);
  }

  function hold(replay: Replay, event: OutgoingEvent): void {
    const isWanted = replay.position ? isAhead(event, replay.position) : isGlobalEvent(event.frame.type);
    if (!isWanted) return;
    replay.held.push(event);
    replay.heldBytes += event.bytes.length;
    if (replay.held.length <= QUEUED_FRAMES_PER_SESSION && replay.heldBytes <= QUEUED_BYTES) return;
    const { sessionId, seq, epoch } = event.frame;
    queue.cut(sessionId, { seq, epoch });
  }

  function resync(sessionId: string, reason: ResyncReason, position: StreamPosition): boolean {
    queue.sendNow(resyncText(sessionId, reason, position));
    return true;
  }

  /** Queues the frames after the cursor, then the held live events. True when a `resync_required` replaced them. */
  async function replayAfter(
    source: StreamSource,
    sessionId: string,
    after: number,
    { replay, position }: { replay: Replay; position: StreamPosition },
  ): Promise<boolean> {
    const subscription = subscribed.get(sessionId);
    const isWhole = !subscription?.filter && !subscription?.companion;
    let missing = position.seq - after;
    let failed = false;
    try {
      for await (const text of source.replay(sessionId, after, position.seq)) {
        await queue.room();
        if (replay.isCut) return true;
        missing -= 1;
        if (isWhole || passes(subscription, replayedFrame.parse(JSON.parse(text)))) {
          queue.sendEncoded(sessionId, text, position);
        }
      }
    } catch (error) {
      log.error('replay failed', { sessionId, err: error });
      failed = true;
    }
    if (replay.isCut) return true;
    const resynced = (failed || missing !== 0) && resync(sessionId, 'session_recreated', position);
    release(sessionId, replay);
    return resynced;
  }

  /** Ends a replay and queues the events that it held; a no-op for a replay that has ended. */
  function release(sessionId: string, replay: Replay): void {
    if (replays.get(sessionId) !== replay) return;
    replays.delete(sessionId);
    for (const event of replay.held) send(event);
  }

  function cut(sessionId: string): void {
    subscribed.get(sessionId)?.companion?.cut();
    const replay = replays.get(sessionId);
    if (!replay) return;
    replay.isCut = true;
    replay.held = [];
    replays.delete(sessionId);
  }

  function forget(sessionId: string): void {
    const subscription = subscribed.get(sessionId);
    if (!subscription) return;
    subscribed.delete(sessionId);
    onChange(sessionId, false);
    subscription.companion?.end();
  }

  async function subscribeHolding(
    sessionId: string,
    cursor: Cursor | undefined,
    filter: AgentFilter | undefined,
    replay: Replay,
  ): Promise<SubscribeOutcome | undefined> {
    const source = streams(sessionId);
    if (!(await source.exists(sessionId))) return undefined;
    const cold = await source.position(sessionId);
    if (closed) return undefined;
    // The point of the switch: no await from here to the start of the replay. Text joined before it is not for this
    // subscription.
    flush(sessionId);
    const position = source.livePosition(sessionId) ?? cold;
    if (sessionId !== GLOBAL_STREAM) {
      const known = subscribed.get(sessionId);
      subscribed.set(sessionId, { filter, companion: known?.companion });
      if (!known) onChange(sessionId, true);
    }
    const decision = cursor ? decideCursor(cursor, position) : 'current';
    if (decision !== 'current' && decision !== 'replay') {
      return { position, resync: resync(sessionId, decision, position) };
    }
    replay.position = position;
    replay.held = replay.held.filter((event) => isAhead(event, position));
    if (decision === 'current') return { position, resync: false };
    replays.set(sessionId, replay);
    return { position, resync: await replayAfter(source, sessionId, cursor?.seq ?? 0, { replay, position }) };
  }

  const subscriptions: Subscriptions = {
    async subscribe(sessionId, cursor, filter) {
      const replay: Replay = { position: undefined, held: [], heldBytes: 0, isCut: false };
      if (cursor && !subscribed.has(sessionId)) replays.set(sessionId, replay);
      try {
        return await subscribeHolding(sessionId, cursor, filter, replay);
      } finally {
        release(sessionId, replay);
      }
    },
    unsubscribe: forget,
    channel: (sessionId) => ({
      async subscribe() {
        // Global events need no subscription, and no companion sends frames about them.
        if (sessionId === GLOBAL_STREAM) return undefined;
        return (await subscriptions.subscribe(sessionId, undefined, subscribed.get(sessionId)?.filter))?.position;
      },
      attach(companion) {
        const subscription = subscribed.get(sessionId);
        if (subscription) subscription.companion = companion;
        else companion?.end();
      },
      send: (text, position, atOnce) => queue.sendEncoded(sessionId, text, position, atOnce),
      cut: (position) => queue.cut(sessionId, position),
    }),
    deliver(event) {
      const replay = replays.get(event.frame.sessionId);
      if (replay) hold(replay, event);
      else send(event);
    },
    cut,
    list: () => [...subscribed.keys()].sort(),
    close() {
      closed = true;
      for (const sessionId of replays.keys()) cut(sessionId);
      for (const sessionId of subscribed.keys()) forget(sessionId);
    },
  };
  return subscriptions;
}

function passes(subscription: Subscription | undefined, event: Parameters<Companion['hides']>[0]): boolean {
  return (
    subscription !== undefined && passesFilter(event, subscription.filter) && !subscription.companion?.hides(event)
  );
}
