/** The built program's start. Development starts in `plugins/development.ts`. */
import '#nitro-internal-pollyfills';
import { fileURLToPath } from 'node:url';
import type { App as H3App } from 'h3';
import endpoints, { plainRoutes } from '#endpoints';
import { appOptions } from '#server/app/options.ts';
import { createApp, type App } from '#server/app/app.ts';
import { commandOf, requestsHelp } from '#server/cli/commands/commands.ts';
import { guardAgainstCrashes } from '#server/cli/crash-guard.ts';
import type { StartOptions } from '#server/cli/options.ts';
import type { Served } from '#server/cli/start.ts';
import { homePath } from '#server/home/home.ts';
import { hideInheritedDescriptors } from '#server/processes/hidden-descriptors.ts';
import { endProcess } from '#server/processes/process-exit.ts';
import { startFailureText } from '#server/errors/start-error.ts';
import { createLogger } from '#server/logging/log.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { provideHost } from '#utils/http/host.ts';
import { createHttpServer } from '#utils/http/http-server.ts';
import type { Host } from '#utils/http/request-handler.ts';
import { createRouteTable } from '#utils/http/route-table.ts';

/** Creates Nitro's app and runs its plugins, which importing the runtime does. Rejects with the error of a plugin. */
async function startNitro(host: Host): Promise<H3App> {
  provideHost(host);
  const { useNitroApp } = await import('nitropack/runtime');
  if (import.meta._tasks) {
    const { startScheduleRunner } = await import('nitropack/runtime/internal/index');
    startScheduleRunner();
  }
  return useNitroApp().h3App;
}

async function open(home: string, options: StartOptions): Promise<{ app: App; served: Served }> {
  const app = await createApp(appOptions({ ...options, home, log: createLogger(options.logLevel) }));
  guardAgainstCrashes(app.log);
  const assets = createAssetReader(() => fileURLToPath(new URL('../public', import.meta.url)));
  const routes = createRouteTable(endpoints, plainRoutes);
  const http = await createHttpServer(app, { routes, assets, preload: true, createH3App: startNitro }).catch(
    async (error: unknown) => {
      await app.close();
      throw error;
    },
  );
  async function closePlugins(): Promise<void> {
    http.closeSockets();
    const { useNitroApp } = await import('nitropack/runtime');
    await useNitroApp().hooks.callHook('close');
  }
  return { app, served: { ...http, closePlugins } };
}

async function main(): Promise<number> {
  hideInheritedDescriptors();
  const { command, argv } = await commandOf(process.argv.slice(2));
  if (requestsHelp(argv)) {
    process.stdout.write(`${await command.help()}\n`);
    return 0;
  }
  const home = homePath(process.env);
  return command.run(argv, { home, open: (options) => open(home, options) });
}

// The reader of the output may have closed it (`| head`); sessions must keep running, and the log file has what matters.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

main().then(
  // Whatever an idle library keeps open must not keep the process.
  (code) => endProcess(code),
  (error: unknown) => {
    process.stderr.write(`service-code: ${startFailureText(error)}\n`);
    return endProcess(1);
  },
);
