/** Kinds of addresses: those of the internet at large, and those of this machine and its link. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** What is handed out to everybody so far; the rest of IPv6 is for special purposes or for nobody. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Outside of the link-local ranges, but answered by the host of a virtual machine alone. */
const OF_THE_PLATFORM = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254']);

/**
 * Names what an address reaches that a name of somebody else must not lead to: this machine, by any of its addresses, or
 * what only this machine reaches. Undefined for all other addresses, those of private networks included.
 */
export function localScope(address: string): string | undefined {
  // IPv4 may be wrapped in IPv6.
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'loopback' || range === 'unspecified') return 'this machine';
  if (ownAddresses().has(parsed.toNormalizedString())) return 'this machine';
  if (range === 'linkLocal') return 'a link-local address';
  return OF_THE_PLATFORM.has(parsed.toString()) ? 'a metadata service' : undefined;
}

/**
 * False for this machine, private and local networks, metadata services, ranges of special purposes, and whatever wraps
 * an IPv4 address into an IPv6 one; also for what is no address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || OF_THE_PLATFORM.has(address)) return false;
  if (parsed instanceof ipaddr.IPv6 && (!parsed.match(GLOBAL_IPV6) || isIsatap(parsed))) return false;
  return !ownAddresses().has(parsed.toNormalizedString());
}

/** The lower half is `0:5efe` (or `200:5efe`) and an IPv4 address, below any prefix. */
const isIsatap = ({ parts }: ipaddr.IPv6): boolean => ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe;

/** A machine with a public address is reached by it too, with all that listens on every address. */
function ownAddresses(): Set<string> {
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return new Set(interfaces.map(({ address }) => ipaddr.parse(address).toNormalizedString()));
}
