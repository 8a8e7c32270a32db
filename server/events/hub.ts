/**
 * The fan-out of events to WebSocket connections: global ones to all, a session's to its subscribers (ws-events.md §7).
 * Publishing only queues, so a slow connection delays neither the others nor the publisher.
 */
import { newUlid } from '#server/ids.ts';
import type { Logger } from '#server/logging/log.ts';
import { createConnection } from './connection.ts';
import type { LiveConnection } from './connection.ts';
import type { DeliveryTimes } from './delivery-queue.ts';
import { GLOBAL_STREAM, isGlobalEvent } from './frame.ts';
import type { EventSink } from './frame.ts';
import { outgoingEvent } from './outgoing.ts';
import type { PromptAborter, StreamSource } from './stream-source.ts';
import type { Connections } from './peer.ts';

/** Longest wait for closed peers to be gone; a client that does not read is dropped then. */
const CLOSE_WAIT_MS = 1000;

/** What is built after the hub, because it publishes through it. */
export interface HubParts {
  sessions?: StreamSource;
  globalStream?: StreamSource;
  aborter?: PromptAborter;
}

export interface EventHub extends Connections, EventSink {
  /** Adds the parts given; until then no session is known. */
  attach(parts: HubParts): void;
  /** Connections subscribed to the session. */
  subscriberCount(sessionId: string): number;
}

export interface EventHubDeps {
  /** Checks the token of a `client_hello`; absent when authentication is off. */
  auth?: { accepts(token: string): Promise<boolean> };
  log: Logger;
  times?: DeliveryTimes;
}

/** Creates the hub; it holds every open connection. */
export function createEventHub({ auth, log, times }: EventHubDeps): EventHub {
  const parts: HubParts = {};
  const connections = new Map<string, LiveConnection>();
  const subscribers = new Map<string, Set<LiveConnection>>();
  let closing = false;
  let onEmpty = () => {};

  function onSubscriptionChange(connection: LiveConnection, sessionId: string, subscribed: boolean): void {
    const present = subscribers.get(sessionId) ?? new Set();
    if (subscribed) present.add(connection);
    else present.delete(connection);
    if (present.size === 0) subscribers.delete(sessionId);
    else subscribers.set(sessionId, present);
  }

  return {
    attach(added) {
      Object.assign(parts, added);
    },
    publish(frame) {
      const receivers = isGlobalEvent(frame.type) ? connections.values() : subscribers.get(frame.sessionId);
      const event = receivers && connections.size > 0 ? outgoingEvent(frame) : undefined;
      if (event && receivers) for (const connection of receivers) connection.deliver(event);
    },
    subscriberCount: (sessionId) => subscribers.get(sessionId)?.size ?? 0,
    open(peer, facts) {
      const connection = createConnection({
        id: `conn_${newUlid()}`,
        peer,
        facts,
        times,
        streams: (sessionId) => (sessionId === GLOBAL_STREAM ? parts.globalStream : parts.sessions),
        aborter: () => parts.aborter,
        acceptsToken: async (token) => !auth || auth.accepts(token),
        onSubscriptionChange,
        log,
      });
      connections.set(connection.id, connection);
      if (closing) connection.end(1001, 'server shutting down');
      return {
        message: connection.message,
        closed() {
          connection.closed();
          connections.delete(connection.id);
          if (connections.size === 0) onEmpty();
        },
      };
    },
    list: () => [...connections.values()].map((connection) => connection.describe()),
    async close() {
      closing = true;
      if (connections.size === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        onEmpty = resolve;
        timer = setTimeout(() => {
          for (const connection of connections.values()) connection.terminate();
          resolve();
        }, CLOSE_WAIT_MS);
        for (const connection of connections.values()) connection.end(1001, 'server shutting down');
      });
      clearTimeout(timer);
    },
  };
}
