/** The built server's start. Development starts in `plugins/development.ts`. */
import '#nitro-internal-pollyfills';
import { fileURLToPath } from 'node:url';
import type { App as H3App } from 'h3';
import endpoints, { plainRoutes } from '#endpoints';
import { appOptions } from '#server/app/options.ts';
import { createApp } from '#server/app/app.ts';
import { loadCertificate, ownCertificateFiles } from '#server/cli/certificate.ts';
import { guardAgainstCrashes } from '#server/cli/crash-guard.ts';
import { parseCommandLine } from '#server/cli/options.ts';
import { runRotateToken } from '#server/cli/rotate-token.ts';
import { createStopRequest, runServer } from '#server/cli/start.ts';
import { homePath } from '#server/home/home.ts';
import { hideInheritedDescriptors } from '#server/processes/hidden-descriptors.ts';
import { endProcess } from '#server/processes/process-exit.ts';
import { startFailureText } from '#server/errors/start-error.ts';
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

async function main(): Promise<void> {
  hideInheritedDescriptors();
  const line = await parseCommandLine(process.argv.slice(2));
  const home = homePath(process.env);
  if (line.command === 'print') return void process.stdout.write(`${line.text}\n`);
  if (line.command === 'rotate-token') {
    const lines = await runRotateToken(home, line);
    return void process.stdout.write(`${lines.join('\n')}\n`);
  }

  const { options } = line;
  const stop = createStopRequest();
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
  await runServer(app, { ...http, closePlugins, tls }, options, stop);
}

// The reader of the output may have closed it (`| head`); sessions must keep running, and the log file has what matters.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

main().then(
  // Whatever an idle library keeps open must not keep the process.
  () => endProcess(0),
  (error: unknown) => {
    process.stderr.write(`service-code: ${startFailureText(error)}\n`);
    return endProcess(1);
  },
);
