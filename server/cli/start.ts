/** Runs a server from its options to its end. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from 'node:http';
import type { App } from '#server/app/app.ts';
import type { Logger } from '#server/logging/log.ts';
import { createLogger } from '#server/logging/log.ts';
import { waitAtMost } from '#server/async/wait-at-most.ts';
import { endProcess, threadsBlocked } from '#server/processes/process-exit.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { accessUrls, sharedUrl } from './access-urls.ts';
import { reportDebugSignals } from './debugger.ts';
import { openInBrowser } from './browser.ts';
import { keepCertificate, type CertificatePair } from './certificate.ts';
import { warnOfExposure, warnOfProxy } from './exposure.ts';
import { listen } from './listen.ts';
import type { CertificateFiles } from './https-options.ts';
import type { StartOptions } from './options.ts';
import { qrCode } from './qr-code.ts';
import { startRemoteControl } from './remote-control.ts';
import { writeRedirectPage, type RedirectPage } from './redirect-page.ts';

/** Time limit of a stop, after which open connections are cut. */
const STOP_TIMEOUT_MS = 4000;
/**
 * After this time a stop checks for blocked threads; if they stay blocked for the same time again, it does not wait
 * longer.
 */
const BLOCKED_MS = 1000;
/** Time that a stop leaves the open requests, and then the plugins, before the app closes. */
const BEFORE_APP_MS = 500;
const EXIT_SECOND_SIGNAL = 130;

/** Logger of warnings for the user: the server log if there is one, else standard error; and the log file. */
function warner(options: StartOptions, log: Logger): (message: string) => void {
  return (message) => {
    log.warn(message);
    if (options.logLevel === 'silent') process.stderr.write(`${message}\n`);
  };
}

async function announce(options: StartOptions, urls: string[]): Promise<void> {
  if (options.logLevel !== 'silent') {
    // The only line with the token; printed at any log level, because the user needs it to sign in.
    createLogger('info').info(`Service server: ${urls[0]}`);
    return;
  }
  const lines = urls.map((url) => `  ${url}`).join('\n');
  process.stdout.write(`\n  Service Code ${SERVER_VERSION} is ready\n\n${lines}\n\n  Press Ctrl+C to stop\n\n`);
  const shared = sharedUrl(urls);
  // Elsewhere than on a terminal it would be a picture of the token in a file.
  if (options.qr && process.stdout.isTTY && shared !== undefined) process.stdout.write(`${await qrCode(shared)}\n\n`);
}

/** Opens the access URL in the user's browser. Never rejects; on failure the user has the printed URL. */
async function openBrowser(url: string, { options: { home, clock }, log }: App): Promise<RedirectPage | undefined> {
  let page: RedirectPage | undefined;
  try {
    // Without authentication the URL contains no secret.
    if (url.includes('#')) page = await writeRedirectPage(home, url, clock);
    const child = await openInBrowser(page?.url ?? url);
    child.on('error', (error) => log.debug('cannot open a browser', { err: error }));
  } catch (error) {
    log.debug('cannot open a browser', { err: error });
  }
  return page;
}

export interface StopRequest {
  /** Aborted once the server has been asked to stop. */
  readonly signal: AbortSignal;
  /**
   * Requests the stop, like SIGINT, SIGTERM and SIGHUP; a later SIGINT or SIGTERM exits the process without waiting for
   * open work.
   */
  stop(): void;
}

/** Installs the signal handlers; a signal during the start must not leave partial state. */
export function createStopRequest(): StopRequest {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) void endProcess(EXIT_SECOND_SIGNAL);
    controller.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  // A closed terminal may send SIGHUP several times.
  process.on('SIGHUP', () => controller.abort());
  return { signal: controller.signal, stop: () => controller.abort() };
}

/** A server to run, and what ends before the app does. */
export interface Served {
  server: Server;
  /** Resolves when no request is open. */
  requestsEnded(): Promise<void>;
  /** Runs after the last request. */
  closePlugins(): Promise<void>;
  /** Undefined without `--https`. */
  tls?: ServedTls | undefined;
}

export interface ServedTls {
  files: CertificateFiles;
  /** Replaces the certificate for new connections. */
  replace(pair: CertificatePair): void;
}

async function close(app: App, { server, requestsEnded, closePlugins }: Served): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await waitAtMost(BEFORE_APP_MS, requestsEnded());
  const plugins = closePlugins().catch((error: unknown) => app.log.error('a plugin failed to close', { err: error }));
  await waitAtMost(BEFORE_APP_MS, plugins);
  await app.close();
  // The remaining connections wait for replies, within the rest of the time limit.
  server.closeIdleConnections();
  await closed;
}

/** Resolves at the end of a stop's time limit, or earlier if threads are blocked, because no wait would succeed. */
async function timeIsOver(): Promise<void> {
  const time = delay(STOP_TIMEOUT_MS);
  await delay(BLOCKED_MS);
  if (!(await threadsBlocked(BLOCKED_MS))) await time;
}

/** Closes app and server; cuts the connections that are open after the time limit. */
export async function stopServer(app: App, served: Served): Promise<void> {
  await Promise.race([close(app, served), timeIsOver()]);
  served.server.closeAllConnections();
}

/** Listens and prints the URLs; returns a function to be called when the server stops. */
async function serve(app: App, { server, tls }: Served, options: StartOptions): Promise<() => Promise<void>> {
  const warn = warner(options, app.log);
  const port = await listen(server, options.host, options.port, (busy) =>
    warn(`Port ${busy} is in use, trying ${busy + 1}.`),
  );
  await app.listening(port);
  warnOfExposure(app, warn);
  warnOfProxy(app, warn);
  const unwatch =
    tls &&
    keepCertificate(tls.files, options, {
      onChanged: tls.replace,
      onUnusable: (reason) => warn(`The changed certificate is not used: ${reason}.`),
      onNotRenewed: (reason) => warn(`The certificate is not renewed: ${reason}.`),
    });
  const { basePath } = options;
  const urls = accessUrls(options.host, port, await app.token(), { secure: tls !== undefined, basePath });
  await announce(options, urls);
  app.log.info('server started', { server_id: app.serverId, version: SERVER_VERSION, host: options.host, port });
  const unreadable = app.config.unreadable();
  // Otherwise the server log contains it already.
  if (unreadable !== undefined && options.logLevel === 'silent') {
    process.stderr.write(`The configuration cannot be read and is not used: ${unreadable}.\n`);
  }
  if (options.remoteControl) void startRemoteControl(app, { hasBanner: options.logLevel === 'silent' });
  const opening = options.open && urls[0] !== undefined ? openBrowser(urls[0], app) : undefined;
  return async () => {
    unwatch?.();
    await (await opening)?.remove();
  };
}

/** Listens, prints the URLs, and resolves after the stop is complete. Throws `StartError` if it cannot listen. */
export async function runServer(
  app: App,
  served: Served,
  options: StartOptions,
  { signal, stop: requestStop }: StopRequest,
): Promise<void> {
  void app.stopRequested.then(requestStop);
  reportDebugSignals(warner(options, app.log));
  let close = async () => {};
  try {
    if (!signal.aborted) close = await serve(app, served, options);
  } catch (error) {
    await app.close();
    throw error;
  }
  if (!signal.aborted) await once(signal, 'abort');
  app.log.info('server stopping', { server_id: app.serverId });
  await close();
  await stopServer(app, served);
}
