/**
 * The bind of `nitro dev`, which listens on all interfaces by default: 127.0.0.1 unless `--host` is given. The app runs in
 * a worker thread and gets its requests from the main process, which therefore passes on what only it knows: host and
 * port, and the address of each client.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Server as HttpServer, type IncomingMessage } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { NitroModule } from 'nitropack/types';

const DEFAULT_HOST = '127.0.0.1';
/** Default host of the dev server. */
const HOST_VARIABLE = 'HOST';

/** Workers get the environment of the main process when they start, which is after it listens. */
export const DEVELOPMENT_HOST_VARIABLE = 'SERVICE_CODE_DEVELOPMENT_HOST';
export const DEVELOPMENT_PORT_VARIABLE = 'SERVICE_CODE_DEVELOPMENT_PORT';
/** The header that carries the address of the client; what a client sends there is replaced. */
export const DEVELOPMENT_CLIENT_HEADER = 'x-forwarded-for';

/** Channels that Node publishes each server to. */
const STARTS = 'tracing:net.server.listen:asyncStart';
const LISTENS = 'tracing:net.server.listen:asyncEnd';

/** The search for a free port listens, too, with servers of another kind. */
const isDevServer = (server: unknown): server is HttpServer | HttpsServer =>
  server instanceof HttpServer || server instanceof HttpsServer;

function nameClient({ headers, socket }: IncomingMessage): void {
  headers[DEVELOPMENT_CLIENT_HEADER] = socket.remoteAddress ?? '';
}

/** Published with the arguments of `listen`. */
interface Listening {
  server: unknown;
  options?: { host?: string };
}
const isListening = (message: unknown): message is Listening =>
  typeof message === 'object' && message !== null && 'server' in message;

let userHost: string | undefined;

function onListen(message: unknown): void {
  if (!isListening(message) || !isDevServer(message.server)) return;
  // Programs that the app starts see the variable of the user.
  if (userHost === undefined) delete process.env[HOST_VARIABLE];
  else process.env[HOST_VARIABLE] = userHost;
  // `--host` without a value is the empty name: all interfaces.
  process.env[DEVELOPMENT_HOST_VARIABLE] = message.options?.host || '::';
  message.server.prependListener('request', nameClient);
  message.server.prependListener('upgrade', nameClient);
}

function onListening(message: unknown): void {
  if (!isListening(message) || !isDevServer(message.server)) return;
  const address = message.server.address();
  if (typeof address === 'object' && address) process.env[DEVELOPMENT_PORT_VARIABLE] = String(address.port);
}

export const developmentBindModule: NitroModule = {
  name: 'development-bind',
  setup(nitro) {
    if (!nitro.options.dev) return;
    userHost = process.env[HOST_VARIABLE];
    process.env[HOST_VARIABLE] = DEFAULT_HOST;
    subscribe(STARTS, onListen);
    subscribe(LISTENS, onListening);
    // A changed configuration sets the modules up again.
    nitro.hooks.hookOnce('close', () => {
      unsubscribe(STARTS, onListen);
      unsubscribe(LISTENS, onListening);
    });
  },
};
