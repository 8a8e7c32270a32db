/** The HTTP server of an app: requests and upgrades, and limits on their time and number. */
import { createServer, type Server } from 'node:http';
import { createApp as createH3App, toNodeListener } from 'h3';
import type { App } from '#server/app/app.ts';
import { descriptorLimit } from '#server/processes/descriptor-limit.ts';
import type { AssetReader } from './assets.ts';
import { connectionsAllowed, limitConnections, type ConnectionLimit } from './connection-limit.ts';
import { createRequestHandler } from './request-handler.ts';
import { preloadAfterFirstAnswer } from './preload.ts';
import { createRouteTable, type EndpointEntry } from './route-table.ts';
import { createUpgrade, createUpgradeListener } from './websocket.ts';

const KEEP_ALIVE_MS = 72_000;

export interface HttpServerOptions {
  endpoints: EndpointEntry[];
  assets: AssetReader;
  /** Loads ahead what requests load at their first use. */
  preload?: boolean;
}

/** Builds the server; it does not listen yet. */
export async function createHttpServer(
  app: App,
  { endpoints, assets, preload = false }: HttpServerOptions,
): Promise<Server> {
  const { maxConnections, headersMs, headersCheckMs } = app.options.httpLimits;
  // Not nitro's own app, whose router, cache and fetch would only take time to load: the handler serves every request.
  const h3App = createH3App();
  h3App.handler = createRequestHandler({
    app: () => app,
    routes: createRouteTable(endpoints),
    assets,
    onAuthorized: (socket) => connections.trust(socket),
  });
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Counted from the connection's start, or from the first byte after an earlier request.
      headersTimeout: headersMs,
      connectionsCheckingInterval: headersCheckMs,
      // No time limit on whole requests: prompts with media come over slow lines. Idle bodies have one of their own.
      requestTimeout: 0,
      // The guard answers a missing Host itself.
      requireHostHeader: false,
    },
    toNodeListener(h3App),
  );
  const connections: ConnectionLimit = limitConnections(
    server,
    maxConnections ?? connectionsAllowed(await descriptorLimit()),
  );
  if (preload) preloadAfterFirstAnswer(server, { endpoints, steps: app.preload, log: app.log });
  server.on('upgrade', createUpgradeListener(app, createUpgrade(app)));
  return server;
}
