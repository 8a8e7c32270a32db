/**
 * Bounds the connections of a server: each takes a descriptor, and a process without free ones can open no file. At the
 * limit a new connection replaces an idle one of a client that has not proved to be the user.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const MAX_CONNECTIONS = 10_000;

/** The other half is for files, for the programs that sessions run, and for connections to other servers. */
const SHARE_OF_DESCRIPTORS = 0.5;
/** These stay free, and what the server itself has open at its start. */
const FREE_DESCRIPTORS = 100;
const OWN_DESCRIPTORS = 50;
/** Where so many cannot stay free: clients must be served all the same. */
const LEAST_SHARE = 0.2;

/** Connections that a process may have which may have so many descriptors. */
export function connectionsAllowed(limit: number): number {
  const free = limit - FREE_DESCRIPTORS - OWN_DESCRIPTORS;
  const share = Math.max(Math.min(limit * SHARE_OF_DESCRIPTORS, free), limit * LEAST_SHARE);
  return Math.min(MAX_CONNECTIONS, Math.floor(share));
}

export interface ConnectionLimit {
  /** The connection has carried a valid token: it is never closed for another one. */
  trust(socket: Duplex): void;
}

interface Connection {
  /** Requests whose answer is not complete. */
  requests: number;
  trusted: boolean;
  upgraded: boolean;
}

/** Holds the connections of `server` to `max`. WebSockets count, and are never closed for another one. */
export function limitConnections(server: Server, max: number): ConnectionLimit {
  /** In the order of arrival. */
  const connections = new Map<Duplex, Connection>();
  /** Connections whose handshake is not complete, by the address of the client. */
  const handshakes = new Map<string, Connection>();
  const secured = new WeakMap<Duplex, Connection>();
  const isSecure = 'setSecureContext' in server;
  const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  const connectionOf = (socket: Duplex) => secured.get(socket) ?? connections.get(socket);

  /** The oldest connection that may be closed for a new one. */
  function oldestClosable(): Duplex | undefined {
    for (const [socket, { requests, trusted, upgraded }] of connections) {
      if (requests === 0 && !trusted && !upgraded) return socket;
    }
    return undefined;
  }

  server.on('connection', (socket) => {
    if (connections.size >= max) {
      const closed = oldestClosable() ?? socket;
      connections.delete(closed);
      closed.destroy();
      if (closed === socket) return;
    }
    const connection = { requests: 0, trusted: false, upgraded: false };
    connections.set(socket, connection);
    const peer = peerOf(socket);
    if (isSecure) handshakes.set(peer, connection);
    socket.once('close', () => {
      connections.delete(socket);
      if (handshakes.get(peer) === connection) handshakes.delete(peer);
    });
  });
  // Over TLS, requests have another socket than the connection that counts.
  server.on('secureConnection', (socket: Socket) => {
    const peer = peerOf(socket);
    const connection = handshakes.get(peer);
    if (connection) secured.set(socket, connection);
    handshakes.delete(peer);
  });
  server.on('request', ({ socket }, response) => {
    const connection = connectionOf(socket);
    if (!connection) return;
    connection.requests += 1;
    response.once('close', () => (connection.requests -= 1));
  });
  server.on('upgrade', (_request, socket) => {
    const connection = connectionOf(socket);
    if (connection) connection.upgraded = true;
  });

  return {
    trust(socket) {
      const connection = connectionOf(socket);
      if (connection) connection.trusted = true;
    },
  };
}
