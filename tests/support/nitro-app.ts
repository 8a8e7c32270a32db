/** Nitro's app for servers in the test's process: middleware, endpoint table and router in the order of the real one. */
import { createApp, createRouter, type App, type EventHandler } from 'h3';
import endpointTable from '#utils/http/endpoint-table.ts';
import { createRequestHandler, type Host, type NitroHandler } from '#utils/http/request-handler.ts';
import type { PlainRoute } from '#utils/http/route-table.ts';

type Method = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' | 'options';

export interface PlainFile extends PlainRoute {
  method?: Method;
  handler: EventHandler;
}

export interface NitroFiles {
  /** Files with other event handlers than endpoints. */
  plain?: PlainFile[];
  middleware?: EventHandler[];
  /** Whether a route rule answers requests for the path. */
  hasRule?: NitroHandler['hasRule'];
}

/** Builds the app around `host`. Errors are answered by h3. */
export function createNitroApp(host: Host, { plain = [], middleware = [], hasRule }: NitroFiles = {}): App {
  const app = createApp();
  for (const handler of [...middleware, endpointTable]) app.use(handler);
  const router = createRouter({ preemptive: true });
  for (const { route, method, handler } of plain) router.use(route, handler, method);
  app.use(router.handler);
  app.handler = createRequestHandler(host, { handle: app.handler, hasRule });
  return app;
}
