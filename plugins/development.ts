/** Development: starts the app and puts our handlers where h3's own were. The built server does both in `entry.ts`. */
import { resolve } from 'node:path';
import { defineNitroPlugin } from 'nitropack/runtime';
import endpoints from '#endpoints';
import { DEVELOPMENT_PORT_VARIABLE } from '../build/development-port.ts';
import { appOptions } from '#server/app-options.ts';
import { createApp } from '#server/app.ts';
import { accessUrls } from '#server/cli/access-urls.ts';
import { guardAgainstCrashes } from '#server/cli/crash-guard.ts';
import { homePath } from '#server/home/home.ts';
import { createLogger } from '#server/logging/log.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { createRequestHandler } from '#utils/http/handler.ts';
import { createRouteTable } from '#utils/http/route-table.ts';
import { developmentHooks } from '#utils/http/websocket.ts';

async function start() {
  const port = Number(process.env[DEVELOPMENT_PORT_VARIABLE] ?? 0);
  const app = await createApp(appOptions({ home: homePath(process.env), port, log: createLogger('warn') }));
  guardAgainstCrashes(app.log);
  process.stdout.write(`  ${accessUrls('localhost', port, await app.token())[0]}\n`);
  return app;
}

export default defineNitroPlugin(({ h3App, hooks }) => {
  if (!import.meta.dev) return;
  const started = start();
  h3App.handler = createRequestHandler({
    app: () => started,
    routes: createRouteTable(endpoints),
    assets: createAssetReader(() => resolve('web/dist')),
  });
  // The dev server takes upgrades of every path; the guard refuses all but ours.
  const socketHooks = started.then(developmentHooks);
  h3App.websocket.resolve = () => socketHooks;
  hooks.hook('close', async () => (await started).close());
});
