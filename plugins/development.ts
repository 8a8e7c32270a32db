/** Development: starts the app and puts our handlers where h3's own were. The built server does both in `entry.ts`. */
import { resolve } from 'node:path';
import { defineNitroPlugin } from 'nitropack/runtime';
import endpoints from '#endpoints';
import {
  DEVELOPMENT_CLIENT_HEADER,
  DEVELOPMENT_HOST_VARIABLE,
  DEVELOPMENT_PORT_VARIABLE,
} from '../build/development-bind.ts';
import { appOptions } from '#server/app/options.ts';
import { createApp } from '#server/app/app.ts';
import { accessUrls } from '#server/cli/access-urls.ts';
import { guardAgainstCrashes } from '#server/cli/crash-guard.ts';
import { warnOfExposure } from '#server/cli/exposure.ts';
import { homePath } from '#server/home/home.ts';
import { createLogger } from '#server/logging/log.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { createRequestHandler } from '#utils/http/request-handler.ts';
import { createRouteTable } from '#utils/http/route-table.ts';
import { developmentHooks } from '#utils/http/websocket.ts';

async function start() {
  const port = Number(process.env[DEVELOPMENT_PORT_VARIABLE] ?? 0);
  // A bind that is not known is taken for one that others reach.
  const host = process.env[DEVELOPMENT_HOST_VARIABLE] ?? '::';
  const app = await createApp(appOptions({ home: homePath(process.env), host, port, log: createLogger('warn') }));
  guardAgainstCrashes(app.log);
  warnOfExposure(app, (message) => app.log.warn(message));
  process.stdout.write(
    accessUrls(host, port, await app.token())
      .map((url) => `  ${url}\n`)
      .join(''),
  );
  return app;
}

export default defineNitroPlugin(({ h3App, hooks }) => {
  if (!import.meta.dev) return;
  const started = start();
  const answer = createRequestHandler({
    app: () => started,
    routes: createRouteTable(endpoints),
    assets: createAssetReader(() => resolve('web/dist')),
    clientAddress: ({ headers }) => headers[DEVELOPMENT_CLIENT_HEADER]?.toString(),
  });
  const hasStarted = started.then(
    () => true,
    () => false,
  );
  h3App.handler = async (event) => {
    if (await hasStarted) return answer(event);
    // Nitro, which reports the error, would also answer with its stack, to any `Host`.
    const { res: response } = event.node;
    response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('The server could not start; its terminal shows why.\n');
  };
  // The dev server takes upgrades of every path; the guard refuses all but ours.
  const socketHooks = started.then((app) => developmentHooks(app, DEVELOPMENT_CLIENT_HEADER));
  h3App.websocket.resolve = () => socketHooks;
  hooks.hook('close', async () => (await started).close());
});
