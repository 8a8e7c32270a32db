/** The HTTP server of an app: requests and upgrades, and limits on their time and number. It also serves accepted connections. */
import { createServer, type Server, type ServerOptions } from 'node:http';
import { toNodeListener, type App as H3App } from 'h3';
import type { App } from '#server/app/app.ts';
import { descriptorLimit } from '#server/processes/descriptor-limit.ts';
import { createAcceptor } from './accepted-connections.ts';
import type { AssetReader } from './assets.ts';
import { connectionsAllowed, limitConnections, type ConnectionLimit } from './connection-limit.ts';
import { createOpenRequests } from './open-requests.ts';
import { preloadAfterFirstAnswer } from './preload.ts';
import type { Host } from './request-handler.ts';
import type { RouteTable } from './route-table.ts';
import { createPlainSockets, createUpgrade, createUpgradeListener } from './websocket.ts';

const KEEP_ALIVE_MS = 72_000;

export interface HttpServerOptions {
  routes: RouteTable;
  assets: AssetReader;
  /** Loads ahead what requests load at their first use. */
  preload?: boolean;
  /** The certificate with which the port speaks TLS; undefined: plain HTTP. PEM. */
  certificate?: { cert: string; key: string } | undefined;
  /** Builds Nitro's app, whose handler is wrapped by `createRequestHandler`. */
  createH3App(host: Host): H3App | Promise<H3App>;
}

export interface HttpServer {
  server: Server;
  /** Resolves when no request is open. */
  requestsEnded(): Promise<void>;
  /** Closes the WebSockets of plain files; the app closes those of the gateway. */
  closeSockets(): void;
  /** Replaces the certificate for new connections; undefined without TLS. */
  replaceCertificate: ((pair: { cert: string; key: string }) => void) | undefined;
}

/** Builds the server; it does not listen yet. */
export async function createHttpServer(
  app: App,
  { routes, assets, preload = false, certificate, createH3App }: HttpServerOptions,
): Promise<HttpServer> {
  const { maxConnections, headersMs, headersCheckMs } = app.options.httpLimits;
  const onAuthorized: Host['onAuthorized'] = (socket) => connections.trust(socket);
  const h3App = await createH3App({ app: () => app, routes, assets, onAuthorized });
  const handle = toNodeListener(h3App);
  const limits: ServerOptions = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Counted from the connection's start, or from the first byte after an earlier request.
    headersTimeout: headersMs,
    connectionsCheckingInterval: headersCheckMs,
    // No time limit on whole requests: prompts with media come over slow lines. Idle bodies have one of their own.
    requestTimeout: 0,
    // The guard answers a missing Host itself.
    requireHostHeader: false,
  };
  let server: Server;
  let replaceCertificate: HttpServer['replaceCertificate'];
  if (certificate) {
    const { createServer: createSecureServer } = await import('node:https');
    const secure = createSecureServer({ ...limits, ...certificate, handshakeTimeout: headersMs }, handle);
    replaceCertificate = (pair) => secure.setSecureContext(pair);
    server = secure;
  } else {
    server = createServer(limits, handle);
  }
  const connections: ConnectionLimit = limitConnections(
    server,
    maxConnections ?? connectionsAllowed(await descriptorLimit()),
  );
  if (preload) preloadAfterFirstAnswer(server, { endpoints: routes.entries, steps: app.preload, log: app.log });
  const plain = createPlainSockets(h3App);
  const upgrade = createUpgradeListener(app, { routes, upgrade: createUpgrade(app), plain });
  server.on('upgrade', upgrade);
  const requests = createOpenRequests();
  server.on('request', (_request, response) => requests.add(response));
  app.serveConnections(createAcceptor(app, { handle, upgrade, requests }));
  return { server, requestsEnded: requests.ended, closeSockets: plain.close, replaceCertificate };
}
