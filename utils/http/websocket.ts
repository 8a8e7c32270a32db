/** Accepts WebSockets: the guard comes before the upgrade. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Socket } from 'node:net';
import type { Hooks } from 'crossws';
import type { App } from '#server/app/app.ts';
import { WEBSOCKET_PATH, bearerSubprotocol } from '#server/auth/guard.ts';
import { loadOnce } from '#server/async/lazy.ts';
import { parseRequestTarget } from './request-target.ts';
import { peerHooks } from './socket-peers.ts';

/** A longer frame closes its connection with 1009. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const KEEP_ALIVE_MS = 30_000;

const STATUS_TEXT = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 429: 'Too Many Requests' } as const;

/** Options of the `ws` server: exact echo of the token's subprotocol and of no other, frame limit, no compression. */
const webSocketServerOptions = {
  maxPayload: MAX_FRAME_BYTES,
  perMessageDeflate: false,
  handleProtocols: (offered: Set<string>): string | false => bearerSubprotocol(offered) ?? false,
};

/** Refusal as a bare status line, then the end of the connection. */
function refuse(socket: Duplex, status: keyof typeof STATUS_TEXT): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_TEXT[status]}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
}

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown;

/**
 * Makes peers of `app.connections` of sockets. The WebSocket library, with all that it imports, is loaded at the first.
 */
export function createUpgrade(app: App): Upgrade {
  const adapter = loadOnce(async () => {
    const { default: nodeAdapter } = await import('crossws/adapters/node');
    return nodeAdapter({ hooks: peerHooks(app), serverOptions: webSocketServerOptions });
  });
  return async (request, socket, head) => (await adapter()).handleUpgrade(request, socket, head);
}

/**
 * The server's `upgrade` listener: other paths are closed without a reply, refusals have no body, the rest is upgraded.
 */
export function createUpgradeListener(app: App, upgrade: Upgrade): (...args: Parameters<Upgrade>) => void {
  /** Resolves to whether the WebSocket library has the socket now. */
  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<boolean> => {
    const { headers, url = '' } = request;
    if (parseRequestTarget(url)?.raw !== WEBSOCKET_PATH) {
      socket.destroy();
      return false;
    }
    const verdict = await app.guard.upgrade({
      host: headers.host,
      origin: headers.origin,
      fetchSite: headers['sec-fetch-site']?.toString(),
      authorization: headers.authorization,
      protocols: headers['sec-websocket-protocol'],
      remoteAddress: request.socket.remoteAddress,
    });
    if (verdict !== 'pass') {
      refuse(socket, verdict);
      return false;
    }
    if (socket instanceof Socket) socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    await upgrade(request, socket, head);
    return true;
  };
  return (request, socket, head) => {
    // Until the WebSocket library has taken the socket over, a reset must not exit the process.
    const onError = () => socket.destroy();
    socket.on('error', onError);
    accept(request, socket, head).then(
      (taken) => taken && socket.off('error', onError),
      (error: unknown) => {
        app.log.error('unhandled error', { err: error });
        socket.destroy();
      },
    );
  };
}

function refusalResponse(status: keyof typeof STATUS_TEXT): Response {
  return new Response(null, { status, statusText: STATUS_TEXT[status], headers: { connection: 'close' } });
}

/**
 * For development, where the upgrade itself belongs to the dev server: the same guard inside crossws' own hook.
 * `clientHeader` has the address of the client.
 */
export function developmentHooks(app: App, clientHeader: string): Partial<Hooks> {
  return {
    ...peerHooks(app, ({ request }) => request.headers.get(clientHeader) ?? undefined),
    async upgrade({ url, headers }) {
      // crossws adds scheme and Host before the request target; the text after them is the target as received.
      const target = url.slice(url.indexOf('://') + '://'.length + (headers.get('host') || 'localhost').length);
      if (parseRequestTarget(target)?.raw !== WEBSOCKET_PATH) throw refusalResponse(404);
      const verdict = await app.guard.upgrade({
        host: headers.get('host') ?? undefined,
        origin: headers.get('origin') ?? undefined,
        fetchSite: headers.get('sec-fetch-site') ?? undefined,
        authorization: headers.get('authorization') ?? undefined,
        protocols: headers.get('sec-websocket-protocol') ?? undefined,
        remoteAddress: headers.get(clientHeader) ?? undefined,
      });
      if (verdict !== 'pass') throw refusalResponse(verdict);
    },
  };
}
