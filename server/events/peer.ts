/**
 * Interface between sockets and event streams. `utils/http/websocket.ts` wraps each accepted socket in a `Peer` and
 * passes it to `Connections`; `server/` does not depend on a WebSocket library, so a test passes seven functions.
 */
import type { ConnectionFacts } from '#server/net/connection-facts.ts';
import type { Connection } from '#schema/rest/connection.ts';

/** An accepted socket. */
export interface Peer {
  /** Queues one text frame. Bytes must be UTF-8; one buffer may serve all receivers. */
  send(data: Uint8Array | string): void;
  close(code: number, reason: string): void;
  /** Drops the socket without waiting for the client's close frame. */
  terminate(): void;
  /** Bytes queued and not yet accepted by the operating system. */
  bufferedAmount(): number;
  /** Stops reading: backpressure for a client that sends faster than frames are handled. */
  pause(): void;
  resume(): void;
}

/** Data of the upgrade request that is needed after it. */
export interface PeerInfo {
  connection: ConnectionFacts;
  remoteAddress: string | null;
  userAgent: string | null;
  /** The token or password that was accepted; null without authentication. */
  secret: string | null;
}

/** The connection's side of a peer. The hooks call it in wire order and never after `closed`. */
export interface PeerHandle {
  /** Receives one frame; text frames may arrive as bytes. Must not throw; queues a frame that it cannot handle yet. */
  message(data: Uint8Array | string): void;
  /** The socket has closed, by either side. */
  closed(): void;
}

export interface Connections {
  /** Registers an accepted peer and sends its hello. */
  open(peer: Peer, facts: PeerInfo): PeerHandle;
  /** Established connections, oldest first. */
  list(): Connection[];
  /** Closes with 4401 the connections whose secret is no longer accepted. */
  endRefused(accepts: (secret: string) => Promise<boolean>): Promise<void>;
  /** Closes every peer with 1001 `server shutting down` and waits briefly until they have closed. */
  close(): Promise<void>;
}
