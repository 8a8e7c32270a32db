/** Warns of addresses of the cloud that are not encrypted. */
import { isLoopbackName } from '#server/auth/hosts.ts';
import type { Logger } from '#server/logging/log.ts';

const PLAIN = new Set(['http:', 'ws:']);

/** Returns a function that logs a warning for the first use of each origin without TLS beyond this machine. */
export function createFirstUses(log: Logger): (address: string) => void {
  const warned = new Set<string>();
  return (address) => {
    if (!URL.canParse(address)) return;
    const { protocol, hostname, origin } = new URL(address);
    if (!PLAIN.has(protocol) || isLoopbackName(hostname) || warned.has(origin)) return;
    warned.add(origin);
    log.warn('an address of the cloud is not encrypted', { origin });
  };
}
