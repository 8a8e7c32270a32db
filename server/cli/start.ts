/** Runs a server from its options to its end. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { App } from '#server/app.ts';
import type { Logger } from '#server/logging/log.ts';
import { createLogger } from '#server/logging/log.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { accessUrls } from './access-urls.ts';
import { listen } from './listen.ts';
import type { StartOptions } from './options.ts';

/** After this long a stop cuts what is still open. */
const STOP_TIMEOUT_MS = 4000;
const EXIT_SECOND_SIGNAL = 130;

/** Where people read warnings: the server log when there is one, else standard error; and the log file. */
function warner(options: StartOptions, log: Logger): (message: string) => void {
  return (message) => {
    log.warn(message);
    if (options.logLevel === 'silent') process.stderr.write(`${message}\n`);
  };
}

function warnOfExposure(options: StartOptions, app: App, warn: (message: string) => void): void {
  if (app.bind.loopback) return;
  warn(`Listening on ${options.host}: the connection is plain HTTP, anyone on the network can read it.`);
  if (!options.bypassAuth) return;
  const rule = '!'.repeat(78);
  // Standard error even with logs on: nobody may overlook it.
  process.stderr.write(
    `${rule}\n!! AUTHENTICATION IS OFF (--dangerous-bypass-auth) on an address that others reach.\n` +
      `!! Everybody who can connect to this port can run commands as you.\n${rule}\n`,
  );
}

function announce(options: StartOptions, urls: string[]): void {
  if (options.logLevel !== 'silent') {
    // The one line that carries the token; printed whatever the level, because it is how the user gets in.
    createLogger('info').info(`Service server: ${urls[0]}`);
    return;
  }
  const lines = urls.map((url) => `  ${url}`).join('\n');
  process.stdout.write(`\n  Service Code ${SERVER_VERSION} is ready\n\n${lines}\n\n  Press Ctrl+C to stop\n\n`);
}

async function openBrowser(url: string, log: Logger): Promise<void> {
  try {
    const { default: open } = await import('open');
    const child = await open(url);
    child.on('error', (error) => log.debug('cannot open a browser', { err: error }));
  } catch (error) {
    log.debug('cannot open a browser', { err: error });
  }
}

export interface StopRequest {
  /** Aborted once the server has been asked to stop. */
  readonly signal: AbortSignal;
  /** Asks for it, as SIGINT and SIGTERM do; a signal after that ends the process at once. */
  stop(): void;
}

/** Listens to signals from now on: one that comes during the start must not leave half-made things behind. */
export function createStopRequest(): StopRequest {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(EXIT_SECOND_SIGNAL);
    controller.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return { signal: controller.signal, stop: () => controller.abort() };
}

async function stop(app: App, server: Server): Promise<void> {
  const cut = setTimeout(() => {
    server.closeAllConnections();
    process.exit(0);
  }, STOP_TIMEOUT_MS);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await app.close();
  // What is left are answers under way; they get the rest of the time.
  server.closeIdleConnections();
  await closed;
  clearTimeout(cut);
}

async function serve(app: App, server: Server, options: StartOptions): Promise<void> {
  const warn = warner(options, app.log);
  const port = await listen(server, options.host, options.port, (busy) =>
    warn(`Port ${busy} is in use, trying ${busy + 1}.`),
  );
  await app.listening(port);
  warnOfExposure(options, app, warn);
  const urls = accessUrls(options.host, port, await app.token());
  announce(options, urls);
  app.log.info('server started', { server_id: app.serverId, version: SERVER_VERSION, host: options.host, port });
  const unreadable = app.config.unreadable();
  // The log has it already.
  if (unreadable !== undefined && options.logLevel === 'silent') {
    process.stderr.write(`The configuration cannot be read and is not used: ${unreadable}.\n`);
  }
  if (options.open && urls[0]) void openBrowser(urls[0], app.log);
}

/** Listens, says where, and resolves once everything is closed. Throws `StartError` when it cannot listen. */
export async function runServer(
  app: App,
  server: Server,
  options: StartOptions,
  { signal, stop: requestStop }: StopRequest,
): Promise<void> {
  void app.stopRequested.then(requestStop);
  try {
    if (!signal.aborted) await serve(app, server, options);
  } catch (error) {
    await app.close();
    throw error;
  }
  if (!signal.aborted) await once(signal, 'abort');
  app.log.info('server stopping', { server_id: app.serverId });
  await stop(app, server);
}
