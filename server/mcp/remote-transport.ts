/** MCP over HTTP: the library's transports with bounded responses, configured headers and limited reconnection. */
import { setTimeout as delay } from 'node:timers/promises';
import type { AuthProvider, Transport } from '@modelcontextprotocol/client';
import type { Fetch } from '#server/net/http-client.ts';
import type { McpRemoteConfig } from '#schema/config/mcp-server.ts';
import { boundedBody, MAX_MESSAGE_BYTES, type BodyBounds } from './bounded-body.ts';
import { createTokenBucket } from './token-bucket.ts';

type Library = typeof import('@modelcontextprotocol/client');

/** Attempts to reopen a broken stream of events before the connection is given up. */
const MAX_RECONNECTIONS = 5;
/** Lower limit of the wait between streams; a server may request a shorter one. */
const MIN_STREAM_GAP_MS = 1000;

/** The token bucket of a connection's lines that are not data of a message; a message may have three of them. */
const LINES_PER_SECOND = 4000;
const LINES_BURST = 20_000;

export interface RemoteTransportOptions {
  transport: McpRemoteConfig['transport'];
  url: URL;
  /** Sent to the server only; headers of the protocol take precedence. */
  headers: Record<string, string>;
  authProvider: AuthProvider | undefined;
  fetch: Fetch;
  /** Called when the transport will not reconnect automatically. */
  onLost(error: unknown): void;
}

/** Creates the transport; connects on `start`. */
export function createRemoteTransport(
  { StreamableHTTPClientTransport, SSEClientTransport }: Library,
  { transport, url, headers, authProvider, fetch, onLost }: RemoteTransportOptions,
): Transport {
  const options = {
    fetch: serverFetch(fetch, headers, onLost),
    ...(authProvider ? { authProvider } : {}),
  };
  if (transport === 'sse') return new SSEClientTransport(url, options);
  return new StreamableHTTPClientTransport(url, {
    ...options,
    // A missing scope is requested only when a person starts a sign-in.
    onInsufficientScope: 'throw',
    reconnectionOptions: {
      initialReconnectionDelay: MIN_STREAM_GAP_MS,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 1.5,
      // The limit is applied by `reconnectionScheduler`, which can report it.
      maxRetries: Number.MAX_SAFE_INTEGER,
    },
    reconnectionScheduler(reconnect, delayMs, attempt) {
      if (attempt >= MAX_RECONNECTIONS) {
        onLost(new Error('the stream of the server broke and could not be opened again'));
        return undefined;
      }
      const timer = setTimeout(reconnect, delayMs);
      return () => clearTimeout(timer);
    },
  });
}

/** Adds the configured headers to each request, bounds each response, and spaces the opening of streams. */
function serverFetch(fetch: Fetch, own: Record<string, string>, onLost: (error: unknown) => void): Fetch {
  let nextStream = 0;
  // Shared by all streams, since a server may answer each request with one.
  const budget = createTokenBucket({ perSecond: LINES_PER_SECOND, burst: LINES_BURST });
  const bounds: BodyBounds = {
    maxBytes: MAX_MESSAGE_BYTES,
    charge(lines) {
      if (budget.take(lines)) return;
      const reason = new Error(`the server sent more than ${LINES_PER_SECOND} lines a second besides its messages`);
      // Without this call the library would only reopen the stream.
      onLost(reason);
      throw reason;
    },
  };
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(own)) if (!headers.has(name)) headers.set(name, value);
    if ((init.method ?? 'GET') === 'GET') {
      const wait = nextStream - performance.now();
      nextStream = Math.max(nextStream, performance.now()) + MIN_STREAM_GAP_MS;
      if (wait > 0) await delay(wait, undefined, init.signal ? { signal: init.signal } : {});
    }
    return boundedBody(await fetch(url, { ...init, headers }), bounds);
  };
}
