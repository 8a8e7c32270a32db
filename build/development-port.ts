/**
 * Tells the app which port `nitro dev` has bound: the app runs in a worker and prints the address with the token, while
 * the command line, and the search for a free port, are the main process's.
 */
import { subscribe } from 'node:diagnostics_channel';
import { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { NitroModule } from 'nitropack/types';

/** Workers get the environment of the main process when they start, which is after it listens. */
export const DEVELOPMENT_PORT_VARIABLE = 'SERVICE_CODE_DEVELOPMENT_PORT';

function onListening(message: unknown): void {
  if (typeof message !== 'object' || message === null || !('server' in message)) return;
  const { server } = message;
  // The search for a free port listens too, with servers of another kind.
  if (!(server instanceof HttpServer || server instanceof HttpsServer)) return;
  const address = server.address();
  if (typeof address === 'object' && address) process.env[DEVELOPMENT_PORT_VARIABLE] = String(address.port);
}

export const developmentPortModule: NitroModule = {
  name: 'development-port',
  setup(nitro) {
    if (nitro.options.dev) subscribe('tracing:net.server.listen:asyncEnd', onListening);
  },
};
