/** Which names and addresses a request may be addressed to. */
import { isIP } from 'node:net';

/** `host` of a Host header or an origin: lower case, without port, IPv6 without brackets. */
export function hostWithoutPort(host: string): string {
  const text = host.trim().toLowerCase();
  if (text.startsWith('[')) return text.slice(1, text.indexOf(']') === -1 ? undefined : text.indexOf(']'));
  // More than one colon without brackets is a bare IPv6 address, which carries no port.
  const colon = text.indexOf(':');
  return colon === -1 || colon !== text.lastIndexOf(':') ? text : text.slice(0, colon);
}

/** Whether a server bound to `host` is reachable from this machine only. */
export function isLoopbackBind(host: string): boolean {
  const name = hostWithoutPort(host);
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Loopback in the sense of the Origin rule: `*.localhost` counts too. */
export function isLoopbackName(name: string): boolean {
  return isLoopbackBind(name) || name.endsWith('.localhost');
}

export interface HostRules {
  bindHost: string;
  /** Entries of `--allowed-host` and `SERVICE_CODE_ALLOWED_HOSTS`; a leading dot stands for the domain and below. */
  allowedHosts: string[];
}

/** The Host check; a missing header is refused. */
export function createHostCheck({ bindHost, allowedHosts }: HostRules): (host: string | undefined) => boolean {
  const exact = new Set([hostWithoutPort(bindHost)]);
  const domains: string[] = [];
  for (const entry of allowedHosts) {
    const name = entry.trim().toLowerCase();
    if (name.startsWith('.') && name.length > 1) domains.push(name);
    else if (name) exact.add(hostWithoutPort(name));
  }
  return (host) => {
    if (!host) return false;
    const name = hostWithoutPort(host);
    if (name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0 || exact.has(name)) return true;
    return domains.some((domain) => name.endsWith(domain) || name === domain.slice(1));
  };
}
