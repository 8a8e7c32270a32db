/**
 * Requests to a server without encryption whose name is resolved once. Whoever owns the name could else lead later
 * requests to this machine; of an encrypted server the certificate shows who answers.
 */
import { isIP } from 'node:net';
import { loadOnce } from '../load-once.ts';
import { createHttpClient, type Fetch, type HttpClient } from './http-client.ts';
import type { Network } from './network.ts';
import { pinnedDispatcher } from './pinned-dispatcher.ts';

export type Addresses = [string, ...string[]];

/** Whether the owner of a name decides where the request goes: an unencrypted one, by a name. */
export const needsPin = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0;

/** All addresses of the host of the URL. Rejects when it has none. */
export async function addressesOf({ hostname }: URL, network: Pick<Network, 'resolve'>): Promise<Addresses> {
  const [first, ...rest] = await network.resolve(hostname);
  if (first === undefined) throw new Error(`${hostname} has no address`);
  return [first, ...rest];
}

/** An HTTP client whose requests go to these addresses, whatever host they name. */
export const createPinnedClient = (addresses: Addresses): HttpClient =>
  createHttpClient((undici, timeouts) => pinnedDispatcher(undici, addresses, timeouts));

/**
 * A client for one server: its name is resolved before the first request and never again where that needs a pin.
 * Requests to other origins, and all where none is needed, go by `fetch`.
 */
export function createServerClient(server: URL, fetch: Fetch, network: Pick<Network, 'resolve'>): HttpClient {
  if (!needsPin(server)) return { fetch, close: async () => undefined };
  const pinned = loadOnce(async () => createPinnedClient(await addressesOf(server, network)));
  let opened: HttpClient | undefined;
  let closed = false;
  return {
    async fetch(url, init) {
      if (new URL(url).origin !== server.origin) return fetch(url, init);
      const client = await pinned();
      // Also while the name was being resolved.
      if (closed) throw new Error(`the client for ${server.host} was closed`);
      opened = client;
      return client.fetch(url, init);
    },
    async close() {
      closed = true;
      await opened?.close();
    },
  };
}
