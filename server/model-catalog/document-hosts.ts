/**
 * The servers of a request and its redirects. A name that is requested without encryption is resolved a single time, so
 * that the address that was checked is the one that is requested (DNS rebinding); a certificate verifies other names.
 */
import { isIP } from 'node:net';
import { abortable } from '#server/async/abortable.ts';
import { isLoopbackName } from '#server/auth/hosts.ts';
import type { Fetch, HttpClient } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import { createPinnedClient, needsPin } from '#server/net/pinned-client.ts';

export interface DocumentHost {
  fetch: Fetch;
  /** Empty for a name that was not or cannot be resolved here. */
  addresses: readonly string[];
  /** Whether requests are sent to one of the addresses. */
  isCertain: boolean;
}

export interface DocumentHosts {
  /** The server of the first URL. */
  start(url: URL): Promise<DocumentHost>;
  /** The server of a redirect by `from`. Throws for one that a server elsewhere must not reach. */
  redirected(from: DocumentHost, url: URL): Promise<DocumentHost>;
  close(): Promise<void>;
}

export interface DocumentHostsDeps {
  /** Must follow no redirects. */
  fetch: Fetch;
  network: Pick<Network, 'resolve' | 'localScope'>;
}

/** Creates the clients of one request. */
export function createDocumentHosts({ fetch, network }: DocumentHostsDeps, signal: AbortSignal): DocumentHosts {
  const clients: HttpClient[] = [];

  async function locate(url: URL): Promise<DocumentHost> {
    const name = nameOf(url);
    const isFixed = hasFixedAddress(url);
    const addresses = isIP(name) > 0 ? [name] : await resolve(name);
    const [first, ...rest] = addresses;
    if (isFixed || first === undefined || !needsPin(url)) return { fetch, addresses, isCertain: isFixed };
    const client = createPinnedClient([first, ...rest]);
    clients.push(client);
    return { fetch: client.fetch, addresses, isCertain: true };
  }

  /** Empty for a name that this machine cannot resolve; perhaps a proxy can. */
  async function resolve(name: string): Promise<string[]> {
    const addresses = await abortable(network.resolve(name), signal).catch(() => []);
    signal.throwIfAborted();
    return addresses;
  }

  /** Describes the service of this machine or its link that a name leads to; undefined for a server elsewhere. */
  async function scopeOf({ addresses }: DocumentHost): Promise<string | undefined> {
    for (const address of addresses) {
      const scope = await network.localScope(address);
      if (scope !== undefined) return scope;
    }
    return undefined;
  }

  return {
    // The address of an encrypted server is not certain, so that its name is not resolved here.
    start: async (url) => (hasFixedAddress(url) || needsPin(url) ? locate(url) : elsewhere(fetch)),
    async redirected(from, url) {
      const host = await locate(url);
      if (from.isCertain && (await scopeOf(from)) !== undefined) return host;
      const scope = await scopeOf(host);
      if (scope !== undefined) throw new Error(`a redirect to ${scope}`);
      // The name may lead to this machine as soon as it is requested.
      if (needsPin(url) && !host.isCertain) throw new Error(`a redirect to ${url.host}, which was not found`);
      return host;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/** A server whose address is not known here. */
export const elsewhere = (fetch: Fetch): DocumentHost => ({ fetch, addresses: [], isCertain: false });

const nameOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Whether no owner of a name decides on the address. */
const hasFixedAddress = (url: URL): boolean => isIP(nameOf(url)) > 0 || isLoopbackName(nameOf(url));
