/** Binds a server to a port; a busy port is retried with the next one. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorMessage } from '#server/errors/service-error.ts';
import { StartError } from '#server/errors/start-error.ts';
import { errorCode } from '#server/errors/errno.ts';

const MAX_RETRIES = 100;
const MAX_PORT = 65_535;

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      const address = server.address() as AddressInfo;
      resolve(address.port);
    });
  });
}

/** Returns the bound port; `onBusy` is called for each busy one. Throws `StartError` when no port can be bound. */
export async function listen(
  server: Server,
  host: string,
  port: number,
  onBusy: (port: number) => void,
): Promise<number> {
  for (let candidate = port; ; candidate += 1) {
    try {
      return await bind(server, host, candidate);
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE')
        throw new StartError(`cannot listen on ${host}:${candidate}: ${errorMessage(error)}`);
      if (candidate - port >= MAX_RETRIES || candidate >= MAX_PORT) {
        throw new StartError(`no free port from ${port} to ${candidate}`);
      }
      onBusy(candidate);
    }
  }
}
