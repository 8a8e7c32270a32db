import { once } from 'node:events';
import type { Server } from 'node:http';
import { onTestFinished } from 'vitest';

/** Lets an HTTP server listen until the test has finished, by default on a free port; resolves to the port. */
export async function listenDuringTest(server: Server, host = '127.0.0.1', wanted = 0): Promise<number> {
  server.listen(wanted, host);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}
