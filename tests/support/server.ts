/** `startServer` runs the real app in the test's process, on its own port and home, in a few milliseconds. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import endpoints from '#endpoints';
import { appOptions, type AppOptions } from '#server/app/options.ts';
import { createApp, type App } from '#server/app/app.ts';
import { listen } from '#server/cli/listen.ts';
import { createLogger } from '#server/logging/log.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { createHttpServer } from '#utils/http/http-server.ts';
import { createRouteTable, type EndpointEntry } from '#utils/http/route-table.ts';
import { createNitroApp, type NitroFiles } from './nitro-app.ts';
import { serverClient, type ServerClient } from './server-client.ts';
import { FORBIDDEN_MS, watchStalls } from './stalls.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface TestServer extends ServerClient {
  app: App;
}

export interface TestServerOptions extends Partial<AppOptions>, NitroFiles {
  /** Replaces all files of `routes/`. */
  endpoints?: EndpointEntry[];
  /** Folder of the page; default: a missing one. */
  webDirectory?: string;
  /** Why this server may block the event loop for longer than allowed, such as a body above 1 MiB. */
  mayStall?: string;
}

/** Starts the app and listens on 127.0.0.1 (or `host`). `close` removes the home unless it was passed. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { endpoints: entries = endpoints, plain = [], middleware, hasRule, webDirectory, mayStall, ...given } = options;
  const home = given.home ?? (await temporaryDirectory());
  const app = await createApp(appOptions({ port: 0, log: createLogger('silent'), ...given, home }));
  const assets = createAssetReader(() => webDirectory ?? join(home, 'no-page'));
  const { server, closeSockets } = await createHttpServer(app, {
    routes: createRouteTable(entries, plain),
    assets,
    createH3App: (host) => createNitroApp(host, { plain, middleware, hasRule }),
  });
  const port = await listen(server, app.options.host, app.options.port, () => undefined);
  await app.listening(port);
  const url = `http://127.0.0.1:${port}`;
  const token = (await app.token()) ?? '';
  const watch = await watchStalls();
  return {
    url,
    token,
    home,
    app,
    ...serverClient(url, token),
    async close() {
      const stalls = watch.stop();
      const excuse = mayStall === undefined ? '' : ` (${mayStall})`;
      for (const { ms, where } of stalls) process.stderr.write(`stall of ${ms.toFixed(0)} ms${excuse}: ${where}\n`);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closeSockets();
      await app.close();
      server.closeAllConnections();
      await closed;
      if (given.home === undefined) await rm(home, { recursive: true, force: true });
      const worst = stalls.find(({ ms }) => ms >= FORBIDDEN_MS);
      if (worst && mayStall === undefined && process.env.SERVICE_CODE_STALLS === 'fail') {
        throw new Error(`the server blocked the event loop for ${worst.ms.toFixed(0)} ms: ${worst.where}`);
      }
    },
  };
}
