/**
 * Serves connections that another part of the process has accepted, such as the streams of the remote-control tunnel.
 * Each carries a single request: an intermediary between may send several browsers over one connection, so a second
 * request could have another address than the connection's.
 */
import { createServer, type RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import type { App } from '#server/app/app.ts';
import { isValidPrefix, type AcceptConnection } from '#server/net/connection-facts.ts';
import { assignRules } from './connection-rules.ts';
import type { OpenRequests } from './open-requests.ts';
import { refuse, type UpgradeListener } from './websocket.ts';

export interface AcceptorOptions {
  handle: RequestListener;
  upgrade: UpgradeListener;
  requests: OpenRequests;
}

/** Codes of a failed request head that Node answers with another status than 400. */
const STATUSES: Partial<Record<string, 413 | 431>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/**
 * Creates the function that serves accepted connections. Its HTTP server does not listen, so that these connections
 * take no part in the limit of connections to the port, whose reason is the number of descriptors.
 */
export function createAcceptor(app: App, { handle, upgrade, requests }: AcceptorOptions): AcceptConnection {
  /** Timers of connections without a complete request head. */
  const waiting = new WeakMap<Duplex, NodeJS.Timeout>();

  /** Whether this is the connection's first request. */
  function isFirst(connection: Duplex): boolean {
    clearTimeout(waiting.get(connection));
    return waiting.delete(connection);
  }

  // The guard answers a missing Host itself. The limits on time apply to servers that listen only.
  const server = createServer({ requireHostHeader: false, requestTimeout: 0, keepAliveTimeout: 0 });
  server.on('request', (request, response) => {
    const { socket: connection } = request;
    // The connection ends with the reply to the first one.
    if (!isFirst(connection)) return;
    response.shouldKeepAlive = false;
    // Also if a handler sets the header for the opposite.
    response.once('close', () => connection.end());
    requests.add(response);
    handle(request, response);
  });
  // Node would answer it itself, and read the next request.
  server.on('checkExpectation', ({ socket: connection }) => {
    if (isFirst(connection)) refuse(connection, 417);
  });
  server.on('upgrade', (request, connection, head) => {
    if (isFirst(connection)) upgrade(request, connection, head);
    else connection.destroy();
  });
  server.on('clientError', (error: NodeJS.ErrnoException, connection) => {
    if (isFirst(connection)) refuse(connection, STATUSES[error.code ?? ''] ?? 400);
    else connection.destroy();
  });

  return (connection, facts) => {
    if (!isValidPrefix(facts.prefix)) {
      connection.destroy();
      return;
    }
    assignRules(connection, app.access.tunnel(facts));
    waiting.set(
      connection,
      setTimeout(() => isFirst(connection) && refuse(connection, 408), app.options.httpLimits.headersMs).unref(),
    );
    connection.once('close', () => isFirst(connection));
    server.emit('connection', connection);
  };
}
