/** `--trust-proxy`: the proxies whose forwarded headers have an effect. */
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { StartError } from '#server/errors/start-error.ts';

export interface TrustedProxies {
  /** Whether the address is listed; in any spelling. */
  has(address: string): boolean;
}

const LOOPBACK = ['127.0.0.0/8', '::1'];
const MAPPED_BITS = 96;

/** The usual spelling of an IP address without a zone; an IPv4-mapped IPv6 address as IPv4. Undefined for other text. */
export function plainIp(text: string): string | undefined {
  if (isIP(text) === 0 || text.includes('%')) return undefined;
  return ipaddr.process(text).toString();
}

/**
 * Creates the list of addresses, CIDR ranges, and the word `loopback`, which may be separated by commas. Throws
 * `StartError` for any other text.
 */
export function parseTrustedProxies(values: readonly string[]): TrustedProxies {
  // A list for each family: one list would match IPv4 addresses with IPv6 ranges.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

  function add(entry: string): void {
    const [text = '', bits, ...rest] = entry.split('/');
    const address = plainIp(text);
    const invalid = new StartError(
      `invalid value '${entry}' of '--trust-proxy': expected an IP address, a CIDR range or 'loopback'`,
    );
    if (address === undefined || rest.length > 0) throw invalid;
    const family = familyOf(address);
    if (bits === undefined) return lists[family].addAddress(address, family);
    const isMapped = family === 'ipv4' && isIP(text) === 6;
    const length = /^\d{1,3}$/.test(bits) ? Number(bits) - (isMapped ? MAPPED_BITS : 0) : -1;
    if (length < 0 || length > (family === 'ipv4' ? 32 : 128)) throw invalid;
    lists[family].addSubnet(address, length, family);
  }

  for (const value of values) {
    for (const entry of value.split(',').map((part) => part.trim())) {
      for (const range of entry === 'loopback' ? LOOPBACK : [entry]) add(range);
    }
  }
  return {
    has(text) {
      const [withoutZone = ''] = text.split('%');
      const address = plainIp(withoutZone);
      return address !== undefined && lists[familyOf(address)].check(address, familyOf(address));
    },
  };
}
