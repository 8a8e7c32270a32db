/**
 * DNS pinning for unencrypted servers: the name is resolved a single time, because its owner could otherwise lead later
 * requests to this machine. For an encrypted server the certificate identifies the peer.
 */
import { isIP } from 'node:net';
import { lazy } from '../async/lazy.ts';
import { createHttpClient, type Fetch, type HttpClient } from './http-client.ts';
import type { Network } from './network.ts';
import { pinnedDispatcher } from './pinned-dispatcher.ts';

export type Addresses = [string, ...string[]];

/** True if the name's owner controls where requests go: an unencrypted URL with a host name. */
export const needsPin = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0;

/** All addresses of the URL's host. Rejects if it has none. */
export async function addressesOf({ hostname }: URL, network: Pick<Network, 'resolve'>): Promise<Addresses> {
  const [first, ...rest] = await network.resolve(hostname);
  if (first === undefined) throw new Error(`${hostname} has no address`);
  return [first, ...rest];
}

/** HTTP client that connects to these addresses for any host name. */
export const createPinnedClient = (addresses: Addresses): HttpClient =>
  createHttpClient((undici, timeouts) => pinnedDispatcher(undici, addresses, timeouts));

/**
 * Client for one server. If it needs a pin, its name is resolved before the first request and never again; requests to
 * other origins, and all requests if no pin is needed, use `fetch`.
 */
export function createServerClient(server: URL, fetch: Fetch, network: Pick<Network, 'resolve'>): HttpClient {
  if (!needsPin(server)) return { fetch, close: async () => undefined };
  const pinned = lazy(async () => createPinnedClient(await addressesOf(server, network)));
  let opened: HttpClient | undefined;
  let closed = false;
  return {
    async fetch(url, init) {
      if (new URL(url).origin !== server.origin) return fetch(url, init);
      const client = await pinned();
      // The client may have been closed while the name was being resolved.
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
