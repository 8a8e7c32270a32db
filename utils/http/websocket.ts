/** Accepts WebSockets: the guard comes before the upgrade. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Socket } from 'node:net';
import type { Hooks, Peer as Socketed } from 'crossws';
import type { App as H3App } from 'h3';
import type { App } from '#server/app/app.ts';
import { WEBSOCKET_PATH, bearerSubprotocol } from '#server/auth/guard.ts';
import { lazy } from '#server/async/lazy.ts';
import { assignClient, rulesOf } from './connection-rules.ts';
import { receivedRequest } from './received-request.ts';
import { removeToken } from './remove-token.ts';
import { originForm, parseRequestTarget, type RequestTarget } from './request-target.ts';
import type { RouteTable } from './route-table.ts';
import { peerHooks } from './socket-peers.ts';

/** A longer frame closes its connection with 1009. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
const KEEP_ALIVE_MS = 30_000;
/** The code of a close because the server stops. */
const GOING_AWAY = 1001;

export const STATUS_TEXT = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  417: 'Expectation Failed',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
} as const;

/** Options of the `ws` server: exact echo of the token's subprotocol and of no other, frame limit, no compression. */
const webSocketServerOptions = {
  maxPayload: MAX_FRAME_BYTES,
  perMessageDeflate: false,
  handleProtocols: (offered: Set<string>): string | false => bearerSubprotocol(offered) ?? false,
};

/** Refusal as a bare status line, then the end of the connection. */
export function refuse(socket: Duplex, status: keyof typeof STATUS_TEXT): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_TEXT[status]}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
}

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown;

/**
 * Makes peers of `app.connections` of sockets. The WebSocket library, with all that it imports, is loaded at the first.
 */
export function createUpgrade(app: App): Upgrade {
  const adapter = lazy(async () => {
    const { default: nodeAdapter } = await import('crossws/adapters/node');
    return nodeAdapter({ hooks: peerHooks(app), serverOptions: webSocketServerOptions });
  });
  return async (request, socket, head) => (await adapter()).handleUpgrade(request, socket, head);
}

/** The target of a socket or its upgrade as the client sent it: crossws puts scheme and Host before it. */
export function receivedTarget(info: RequestInit | Socketed): RequestTarget | undefined {
  const request: object = 'request' in info ? info.request : info;
  if (!('url' in request) || typeof request.url !== 'string') return undefined;
  const host = 'headers' in request && request.headers instanceof Headers && request.headers.get('host');
  return parseRequestTarget(
    request.url.slice(request.url.indexOf('://') + '://'.length + (host || 'localhost').length),
  );
}

/** Handlers of `defineWebSocketHandler`, on the paths of plain files. */
export interface PlainSockets {
  /** The hooks of the handler; undefined if no handler of the path takes sockets. */
  hooksOf(target: RequestTarget): Promise<Partial<Hooks> | undefined>;
  upgrade: Upgrade;
  /** Closes all sockets. */
  close(): void;
}

/** Builds the sockets of the handlers that `resolve` finds by path. */
export function createPlainSockets({ resolve }: Pick<H3App, 'resolve'>): PlainSockets {
  let closeAll: PlainSockets['close'] | undefined;
  async function hooksOf({ raw }: RequestTarget): Promise<Partial<Hooks> | undefined> {
    const hooks = (await resolve(raw))?.handler.__websocket__;
    return hooks && Object.keys(hooks).length > 0 ? hooks : undefined;
  }
  const adapter = lazy(async () => {
    const { default: nodeAdapter } = await import('crossws/adapters/node');
    const resolveHooks = async (info: RequestInit | Socketed) => {
      const target = receivedTarget(info);
      return (target && (await hooksOf(target))) ?? {};
    };
    const built = nodeAdapter({ resolve: resolveHooks, serverOptions: webSocketServerOptions });
    closeAll = () => built.closeAll(GOING_AWAY);
    return built;
  });
  return {
    hooksOf,
    upgrade: async (request, socket, head) => (await adapter()).handleUpgrade(request, socket, head),
    close: () => closeAll?.(),
  };
}

/** Listener of a server's `upgrade` event. */
export type UpgradeListener = (...args: Parameters<Upgrade>) => void;

export interface UpgradeOptions {
  routes: RouteTable;
  /** Takes sockets of the gateway. */
  upgrade: Upgrade;
  plain: PlainSockets;
}

/** Whether a plain file names the path. */
export const isPlainPath = (routes: RouteTable, { segments }: RequestTarget): boolean =>
  routes.match('GET', segments)?.kind === 'plain';

/**
 * The server's `upgrade` listener: closes sockets of paths without a handler, answers refusals with a bare status line,
 * and passes the other sockets to their handler.
 */
export function createUpgradeListener(app: App, { routes, upgrade, plain }: UpgradeOptions): UpgradeListener {
  /** Resolves to whether the WebSocket library has the socket now. */
  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<boolean> => {
    const { headers, url = '' } = request;
    const rules = rulesOf(app, socket);
    const target = parseRequestTarget(url, rules.basePath);
    const isGateway = target?.raw === WEBSOCKET_PATH;
    if (!target || target.isBase || (!isGateway && !isPlainPath(routes, target))) {
      socket.destroy();
      return false;
    }
    const client = rules.client(receivedRequest(request));
    const verdict = await rules.guard.upgrade({
      host: client.host,
      scheme: client.scheme,
      origin: headers.origin,
      fetchSite: headers['sec-fetch-site']?.toString(),
      authorization: headers.authorization,
      protocols: headers['sec-websocket-protocol'],
      remoteAddress: client.address,
    });
    if (verdict !== 'pass') {
      refuse(socket, verdict);
      return false;
    }
    if (!isGateway && !(await plain.hooksOf(target))) {
      socket.destroy();
      return false;
    }
    if (socket instanceof Socket) socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    assignClient(socket, client);
    if (!isGateway) removeToken(request);
    // The handler's path is found in it.
    if (target.removed !== undefined) request.url = originForm(target);
    await (isGateway ? upgrade : plain.upgrade)(request, socket, head);
    return true;
  };
  return (request, socket, head) => {
    // Until a handler owns the socket, a reset must not end the process.
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
