/**
 * What lies between a socket and the event streams. `utils/http/websocket.ts` wraps each accepted socket in a `Peer`
 * and hands it to `Connections`; nothing in `server/` knows which WebSocket library runs, so a test passes seven
 * functions.
 */
import type { Connection } from '#schema/connection.ts';

/** An accepted socket. */
export interface Peer {
  /** Queues one text frame. Bytes are UTF-8 text already encoded, so that one buffer serves all receivers. */
  send(data: Uint8Array | string): void;
  close(code: number, reason: string): void;
  /** Drops the socket without waiting for the client's part in the closing. */
  terminate(): void;
  /** Bytes queued and not yet taken by the operating system. */
  bufferedAmount(): number;
  /** Stops reading, so that a client which sends faster than frames are handled fills its own buffers. */
  pause(): void;
  resume(): void;
}

/** Facts of the upgrade request that outlive it. */
export interface PeerFacts {
  remoteAddress: string | null;
  userAgent: string | null;
  /** The token or password that was accepted; null without authentication. */
  secret: string | null;
}

/** The connection's end of a peer. The hooks call it in wire order and never after `closed`. */
export interface PeerHandle {
  /** One frame as received; text frames may come as bytes too. Must not throw; queues what it cannot handle at once. */
  message(data: Uint8Array | string): void;
  /** The socket is gone, whoever closed it. */
  closed(): void;
}

export interface Connections {
  /** Takes an accepted peer; sends its hello. */
  open(peer: Peer, facts: PeerFacts): PeerHandle;
  /** Established connections, oldest first. */
  list(): Connection[];
  /** Ends the connections whose secret is no longer accepted with 4401. */
  endRefused(accepts: (secret: string) => Promise<boolean>): Promise<void>;
  /** Closes every peer with 1001 `server shutting down` and waits until they are gone, a short time at most. */
  close(): Promise<void>;
}
