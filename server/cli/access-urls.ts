/** The URLs under which a user opens the server. */
import { networkInterfaces } from 'node:os';
import { isLoopbackName } from '#server/auth/hosts.ts';

const WILDCARDS = new Set(['0.0.0.0', '::']);

function reachableHosts(host: string): string[] {
  if (!WILDCARDS.has(host)) return [host];
  const families = host === '::' ? ['IPv4', 'IPv6'] : ['IPv4'];
  const addresses = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    // Link-local IPv6 addresses need a zone id, which browsers do not accept.
    .filter(({ internal, family, address }) => !internal && families.includes(family) && !address.startsWith('fe80:'))
    .map(({ address }) => address);
  return ['localhost', ...addresses];
}

export interface UrlForm {
  /** Whether the server speaks TLS. */
  secure?: boolean;
  /** Without a final slash; empty: none. */
  basePath?: string;
}

/** One URL for each reachable host, the first for this machine. Without `token` (auth bypassed): no fragment. */
export function accessUrls(
  host: string,
  port: number,
  token: string | undefined,
  { secure = false, basePath = '' }: UrlForm = {},
): string[] {
  const fragment = token === undefined ? '' : `#token=${token}`;
  const scheme = secure ? 'https' : 'http';
  return reachableHosts(host).map(
    (name) => `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}${basePath}/${fragment}`,
  );
}

/** The first URL that other machines can reach, else the first one. */
export const sharedUrl = (urls: readonly string[]): string | undefined =>
  urls.find((url) => !isLoopbackName(new URL(url).hostname.replaceAll(/[[\]]/g, ''))) ?? urls[0];
