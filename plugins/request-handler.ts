/** Puts our way in where h3's own handler was; in development it also starts the app, which the built server's entry does. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineNitroPlugin } from 'nitropack/runtime';
import endpoints from '#endpoints';
import type { App } from '#server/app.ts';
import { appOptions, createApp } from '#server/app.ts';
import { accessUrls } from '#server/cli/access-urls.ts';
import { homePath } from '#server/home/home.ts';
import { createLogger } from '#server/logging/log.ts';
import { provideApp, useApp } from '#utils/app.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { createRequestHandler } from '#utils/http/handler.ts';
import { createRouteTable } from '#utils/http/route-table.ts';

const DEVELOPMENT_PORT = 3000;

/** Called late: in the built output `import.meta.url` is right only once the entry runs. */
const webDirectory = () =>
  import.meta.dev ? resolve('web/dist') : fileURLToPath(new URL('../public', import.meta.url));

async function startInDevelopment(): Promise<App> {
  const port = Number(process.env.NITRO_PORT ?? process.env.PORT ?? DEVELOPMENT_PORT);
  const app = await createApp(appOptions({ home: homePath(process.env), port, log: createLogger('warn') }));
  provideApp(() => app);
  process.stdout.write(`  ${accessUrls('localhost', port, await app.token())[0]}\n`);
  return app;
}

export default defineNitroPlugin((nitroApp) => {
  const started = import.meta.dev ? startInDevelopment() : undefined;
  nitroApp.h3App.handler = createRequestHandler({
    app: () => started ?? useApp(),
    routes: createRouteTable(endpoints),
    assets: createAssetReader(webDirectory),
  });
  if (started) nitroApp.hooks.hook('close', async () => (await started).close());
});
