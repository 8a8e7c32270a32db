/** Development: starts the app in the worker of `nitro dev`. The built server does it in `entry.ts`. */
import { resolve } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { toNodeListener } from 'h3';
import { defineNitroPlugin } from 'nitropack/runtime';
import endpoints, { plainRoutes } from '#endpoints';
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
import { createAcceptor } from '#utils/http/accepted-connections.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { createDevelopmentHooks } from '#utils/http/development-sockets.ts';
import { provideHost } from '#utils/http/host.ts';
import { createOpenRequests } from '#utils/http/open-requests.ts';
import { createRouteTable } from '#utils/http/route-table.ts';
import { createPlainSockets, createUpgrade, createUpgradeListener } from '#utils/http/websocket.ts';

/** Less than the 5 s after which Nitro terminates a worker, without its `exit` listeners. */
const STOP_TIMEOUT_MS = 4000;

/** Exits the worker if a part of it takes too long to close: a thread must not end in the middle of a call into SQLite. */
function limitShutdown(): void {
  parentPort?.on('message', (message: { event?: string } | undefined) => {
    if (message?.event === 'shutdown') setTimeout(() => process.exit(), STOP_TIMEOUT_MS).unref();
  });
}

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
  limitShutdown();
  const started = start();
  // `build/development-stop.ts` handles the signal.
  started.then(
    (app) => app.stopRequested.then(() => process.kill(process.pid, 'SIGTERM')),
    () => undefined,
  );
  const routes = createRouteTable(endpoints, plainRoutes);
  provideHost({
    app: () => started,
    routes,
    assets: createAssetReader(() => resolve('web/dist')),
    clientAddress: ({ headers }) => headers[DEVELOPMENT_CLIENT_HEADER]?.toString(),
  });
  const plain = createPlainSockets(h3App);
  const sockets = { routes, plain, clientHeader: DEVELOPMENT_CLIENT_HEADER };
  const hooksOf = started.then((app) => createDevelopmentHooks(app, sockets));
  const requests = createOpenRequests();
  started.then(
    (app) => {
      const upgrade = createUpgradeListener(app, { routes, upgrade: createUpgrade(app), plain });
      app.serveConnections(createAcceptor(app, { handle: toNodeListener(h3App), upgrade, requests }));
    },
    () => undefined,
  );
  h3App.websocket.resolve = async (info) => (await hooksOf)(info);
  hooks.hook('close', async () => (await started).close());
});
