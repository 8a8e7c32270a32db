/** The URLs under which a user opens the server. */
import { networkInterfaces } from 'node:os';

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

/** One URL for each reachable host, the first for this machine. Without `token` (auth bypassed): no fragment. */
export function accessUrls(host: string, port: number, token: string | undefined): string[] {
  const fragment = token === undefined ? '' : `#token=${token}`;
  return reachableHosts(host).map((name) => `http://${name.includes(':') ? `[${name}]` : name}:${port}/${fragment}`);
}
