/** Which names and addresses a request may be addressed to. */
import { isIP } from 'node:net';

/** A name or an IPv4 address, which may end in one dot (the root of DNS), with an optional port. */
const NAMED = /^([a-z0-9._-]*[a-z0-9_-])\.?(?::\d+)?$/;
const BRACKETED = /^\[([^\]]*)\](?::\d+)?$/;

/**
 * The name or address of a `Host` header or of the host part of an origin: lower case, without port and final dot, IPv6
 * without brackets. Undefined for every other text: what follows a bracket or a name must be a port.
 */
export function parseHost(host: string): string | undefined {
  const text = host.toLowerCase();
  // A bare IPv6 address carries no port.
  if (isIP(text) === 6) return text;
  const address = BRACKETED.exec(text)?.[1];
  if (address !== undefined) return isIP(address) === 6 ? address : undefined;
  return NAMED.exec(text)?.[1];
}

/** Whether a server bound to `host` is reachable from this machine only. */
export function isLoopbackBind(host: string): boolean {
  // Resolvers need not know a name with a final dot, or an address, from the hosts file.
  if (host.endsWith('.')) return false;
  const name = parseHost(host);
  if (name === undefined) return false;
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Loopback in the sense of the Origin rule: `*.localhost` is included. */
export function isLoopbackName(name: string): boolean {
  return isLoopbackBind(name) || name.endsWith('.localhost');
}

export interface HostRules {
  bindHost: string;
  /** Entries of `--allowed-host` and `SERVICE_CODE_ALLOWED_HOSTS`; a leading dot allows the domain and all below it. */
  allowedHosts: string[];
}

/** The Host check; a missing header is refused. */
export function createHostCheck({ bindHost, allowedHosts }: HostRules): (host: string | undefined) => boolean {
  const entries = allowedHosts.map((entry) => entry.trim().toLowerCase().replace(/\.$/, ''));
  const domains = entries.filter((entry) => entry.startsWith('.'));
  const exact = new Set([bindHost, ...entries].map(parseHost));
  return (host) => {
    const name = host === undefined ? undefined : parseHost(host);
    if (name === undefined) return false;
    if (name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0 || exact.has(name)) return true;
    return domains.some((domain) => name.endsWith(domain) || name === domain.slice(1));
  };
}
