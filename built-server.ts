/** The server of the built program, loaded by the commands that start one. */
import { fileURLToPath } from 'node:url';
import type { App as H3App } from 'h3';
import endpoints, { plainRoutes } from '#endpoints';
import { appOptions } from '#server/app/options.ts';
import { createApp, type App } from '#server/app/app.ts';
import { loadCertificate, ownCertificateFiles } from '#server/cli/certificate.ts';
import { guardAgainstCrashes } from '#server/cli/crash-guard.ts';
import type { StartOptions } from '#server/cli/options.ts';
import type { Served } from '#server/cli/start.ts';
import { createLogger } from '#server/logging/log.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { provideHost } from '#utils/http/host.ts';
import { createHttpServer, type HttpServer } from '#utils/http/http-server.ts';
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

/** Creates the app and its HTTP server, which does not listen yet. */
export async function openServer(home: string, options: StartOptions): Promise<{ app: App; served: Served }> {
  const files = options.https && (options.https.files ?? ownCertificateFiles(home));
  const app = await createApp(
    appOptions({ ...options, home, certificate: files?.cert, log: createLogger(options.logLevel) }),
  );
  guardAgainstCrashes(app.log);
  const assets = createAssetReader(() => fileURLToPath(new URL('../public', import.meta.url)));
  const routes = createRouteTable(endpoints, plainRoutes);
  async function openHttp(): Promise<HttpServer> {
    const certificate = files && (await loadCertificate(files, options));
    return createHttpServer(app, { routes, assets, preload: true, certificate, createH3App: startNitro });
  }
  const http = await openHttp().catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  const { replaceCertificate } = http;
  const tls = files && replaceCertificate ? { files, replace: replaceCertificate } : undefined;
  async function closePlugins(): Promise<void> {
    http.closeSockets();
    const { useNitroApp } = await import('nitropack/runtime');
    await useNitroApp().hooks.callHook('close');
  }
  return { app, served: { ...http, closePlugins, tls } };
}
