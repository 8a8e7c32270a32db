/** Checks the `Host` of requests against DNS rebinding. */
import { isIP } from 'node:net';

/** A name or an IPv4 address, optionally with a final dot (DNS root) and a port. */
const NAMED = /^([a-z0-9._-]*[a-z0-9_-])\.?(?::\d+)?$/;
const BRACKETED = /^\[([^\]]*)\](?::\d+)?$/;

/**
 * Parses a `Host` header or the host part of an origin: lower case, without port and final dot, IPv6 without brackets.
 * Undefined for any other text: only a port may follow a bracket or a name.
 */
export function parseHost(host: string): string | undefined {
  const text = host.toLowerCase();
  // An unbracketed IPv6 address has no port.
  if (isIP(text) === 6) return text;
  const address = BRACKETED.exec(text)?.[1];
  if (address !== undefined) return isIP(address) === 6 ? address : undefined;
  return NAMED.exec(text)?.[1];
}

/** True if a server bound to `host` is reachable only from this machine. */
export function isLoopbackBind(host: string): boolean {
  // Resolvers may not look up a name with a final dot, or an address, in the hosts file.
  if (host.endsWith('.')) return false;
  const name = parseHost(host);
  if (name === undefined) return false;
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Loopback names for the Origin rule, which include `*.localhost`. */
export function isLoopbackName(name: string): boolean {
  return isLoopbackBind(name) || name.endsWith('.localhost');
}

export interface HostRules {
  bindHost: string;
  /** Entries of `--allowed-host` and `SERVICE_CODE_ALLOWED_HOSTS`; a leading dot includes all subdomains. */
  allowedHosts: string[];
}

/** Creates the Host check; a missing header is rejected. */
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
