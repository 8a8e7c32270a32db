/**
 * Requests of a sign-in. They go to addresses that a server names, which may be hostile: they must not reach into the
 * user's network (SSRF), wait forever or buffer unbounded replies.
 */
import type { Fetch } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import { addressesOf, createPinnedClient, needsPin, type Addresses } from '#server/net/pinned-client.ts';
import { lazy } from '#server/async/lazy.ts';
import { readBounded } from '#server/net/read-bounded.ts';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/** Names and loopback addresses of this machine, as `URL` spells them. IPv4 may be wrapped in IPv6. */
const LOOPBACK =
  /^((.+\.)?localhost\.?|(127|0)(\.\d{1,3}){3}|\[::1?\]|\[::ffff:(7f[0-9a-f]{2}|[0-9a-f]{1,2}):[0-9a-f]{1,4}\])$/;
const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname);

/** Whether the address is encrypted, or unencrypted on the machine or host of the server itself. */
export function isAllowed(url: URL, server: URL): boolean {
  if (url.protocol === 'https:') return !isLoopback(url) || isLoopback(server);
  if (url.protocol !== 'http:' || server.protocol !== 'http:') return false;
  return url.hostname === server.hostname || (isLoopback(url) && isLoopback(server));
}

export interface OAuthFetchDeps {
  fetch: Fetch;
  network: Pick<Network, 'resolve' | 'localScope'>;
}

/** Requests of one sign-in. A name that is requested without encryption is resolved a single time for all of them. */
export interface OAuthRequests {
  /** Reads the whole response, at most 1 MiB. */
  fetch: Fetch;
  /** Reads only status and headers and cancels the body, which may be an endless stream. */
  fetchHead: Fetch;
}

/**
 * Creates the requests of a sign-in to a server: 30 s each, no redirects. An unencrypted request to a name fails if the
 * name resolves to this machine or its link: it would reach any service that listens there.
 */
export function oauthRequests({ fetch, network }: OAuthFetchDeps, server: URL, ended: AbortSignal): OAuthRequests {
  const addresses = lazy(() => foreignAddresses(server, network));

  const requestBy =
    (read: (response: Response) => Promise<Uint8Array<ArrayBuffer> | null>): Fetch =>
    async (input, init = {}) => {
      const url = new URL(input);
      if (!isAllowed(url, server)) throw new Error(`a sign-in does not go to ${url.protocol}//${url.host}`);
      const client = needsPin(url) && !isLoopback(url) ? createPinnedClient(await addresses()) : undefined;
      const signals = [ended, AbortSignal.timeout(TIMEOUT_MS), ...(init.signal ? [init.signal] : [])];
      try {
        const ask = client?.fetch ?? fetch;
        const response = await ask(url, { ...init, redirect: 'manual', signal: AbortSignal.any(signals) });
        const { status, statusText, headers } = response;
        return new Response(await read(response), { status, statusText, headers });
      } finally {
        await client?.close();
      }
    };

  return {
    fetch: requestBy(async (response) => response.body && readBounded(response, MAX_BYTES)),
    fetchHead: requestBy(async ({ body }) => {
      await body?.cancel();
      return null;
    }),
  };
}

/**
 * Returns the addresses of the server. Throws for a name that resolves to this machine or its link: its owner may have
 * changed the DNS record since the server was connected.
 */
async function foreignAddresses(server: URL, network: OAuthFetchDeps['network']): Promise<Addresses> {
  const addresses = await addressesOf(server, network);
  for (const address of addresses) {
    const scope = await network.localScope(address);
    if (scope !== undefined) {
      throw new Error(`the name ${server.hostname} leads to ${scope}, where a sign-in does not go`);
    }
  }
  return addresses;
}
