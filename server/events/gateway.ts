/**
 * WebSocket gateway: sends global events to all connections and a session's events to its subscribers. Delivery only
 * queues an event, so a slow connection delays neither other connections nor the publisher.
 */
import { newUlid } from '#server/ids.ts';
import type { Logger } from '#server/logging/log.ts';
import type { EventBus } from './bus.ts';
import { createConnection } from './connection.ts';
import type { LiveConnection } from './connection.ts';
import type { DeliveryTimes } from './delivery-queue.ts';
import type { FrameHandler } from './frame-handler.ts';
import { GLOBAL_STREAM, isGlobalEvent } from './frame.ts';
import type { EventFrame } from './frame.ts';
import { outgoingEvent } from './outgoing.ts';
import type { Connections } from './peer.ts';
import type { StreamSource } from './stream-source.ts';

/** Longest wait for peers to close; a client that does not read is then dropped. */
const CLOSE_WAIT_MS = 1000;
/** Close code of a connection whose token was rotated. */
const REVOKED_CODE = 4401;

export interface GatewayDeps {
  bus: EventBus;
  sessions: StreamSource;
  globalStream: StreamSource;
  /** Handlers of the domains, one per frame type. */
  frames: readonly FrameHandler[];
  /** Checks the token of a `client_hello`; absent when authentication is off. */
  auth?: { accepts(token: string): Promise<boolean> };
  log: Logger;
  times?: DeliveryTimes;
}

function byType(frames: readonly FrameHandler[]): ReadonlyMap<string, FrameHandler> {
  const handlers = new Map(frames.map((handler) => [handler.type, handler]));
  if (handlers.size !== frames.length) throw new Error('a request frame has two handlers');
  return handlers;
}

/** Creates the gateway, which owns all open connections. */
export function createGateway(deps: GatewayDeps): Connections {
  const { bus, sessions, globalStream, auth, log, times } = deps;
  const frames = byType(deps.frames);
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

  function receive(frame: EventFrame): void {
    const receivers = isGlobalEvent(frame.type) ? connections.values() : subscribers.get(frame.sessionId);
    if (!receivers || connections.size === 0) return;
    const event = outgoingEvent(frame);
    for (const connection of receivers) connection.deliver(event);
  }

  const leave = bus.listen({
    receive,
    flushed(sessionId) {
      for (const connection of subscribers.get(sessionId) ?? []) connection.seal();
    },
    followers: (sessionId) => subscribers.get(sessionId)?.size ?? 0,
  });

  return {
    open(peer, facts) {
      const connection = createConnection({
        id: `conn_${newUlid()}`,
        peer,
        facts,
        times,
        frames,
        streams: (sessionId) => (sessionId === GLOBAL_STREAM ? globalStream : sessions),
        flush: bus.flush,
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
    async endRefused(accepts) {
      const secrets = new Set([...connections.values()].flatMap(({ secret }) => secret ?? []));
      for (const secret of secrets) {
        if (await accepts(secret)) continue;
        for (const connection of connections.values()) {
          if (connection.secret === secret) connection.end(REVOKED_CODE, 'token replaced');
        }
      }
    },
    async close() {
      closing = true;
      if (connections.size > 0) await closeAll();
      leave();
    },
  };

  async function closeAll(): Promise<void> {
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
  }
}
