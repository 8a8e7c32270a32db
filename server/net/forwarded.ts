/** Who sent a request, and under which address of this server: by its connection, or by the headers of a listed proxy. */
import { plainIp, type TrustedProxies } from './trusted-proxies.ts';

export type Scheme = 'http' | 'https';

/** The facts of a request that no client can choose, and its headers. */
export interface ReceivedRequest {
  /** Address of the connection's other end. */
  peer: string | undefined;
  /** Scheme of the connection. */
  scheme: Scheme;
  headers: { readonly host?: string | undefined; readonly [name: string]: string | string[] | undefined };
}

export interface Client {
  /** IP address, on which the ban decides. */
  address: string | undefined;
  /** With `host`: the origin of this server in the client's browser. */
  scheme: Scheme;
  /** `host[:port]` as the client sent it; not checked yet. */
  host: string | undefined;
}

/** Values of a header in the order in which proxies have appended them; none if it is missing or empty. */
function valuesOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  return text.trim() === '' ? [] : text.split(',').map((value) => value.trim());
}

/**
 * The rightmost entry that is not listed: entries to its left are what that address claims. An entry that is no address
 * may have been written by anybody.
 */
function clientAddress(peer: string, entries: readonly string[], proxies: TrustedProxies): string {
  let address = peer;
  for (const entry of entries.toReversed()) {
    const read = plainIp(entry);
    if (read === undefined) return peer;
    address = read;
    if (!proxies.has(read)) return read;
  }
  return address;
}

/** Reads address, scheme and host of the client. `proxies` is undefined without `--trust-proxy`. */
export function clientOf({ peer, scheme, headers }: ReceivedRequest, proxies: TrustedProxies | undefined): Client {
  if (peer === undefined || !proxies?.has(peer)) return { address: peer, scheme, host: headers.host };
  const forwardedScheme = valuesOf(headers['x-forwarded-proto']).at(-1);
  return {
    address: clientAddress(peer, valuesOf(headers['x-forwarded-for']), proxies),
    scheme: forwardedScheme === 'http' || forwardedScheme === 'https' ? forwardedScheme : scheme,
    host: valuesOf(headers['x-forwarded-host']).at(-1) ?? headers.host,
  };
}
