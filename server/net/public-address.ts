/** Classifies addresses: public internet, this machine and its link. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { once } from '#server/memo/once.ts';

/** The allocated part of global unicast IPv6; the rest is special-purpose or unassigned. */
const globalIpv6 = once(() => ipaddr.IPv6.parseCIDR('2000::/3'));
/** Metadata services outside the link-local ranges, which only the host of a virtual machine answers. */
const OF_THE_PLATFORM = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254']);

/**
 * Describes the local target of an address, which a foreign name must not resolve to: this machine, by any of its
 * addresses, or a service that only this machine reaches. Undefined for all others, including private networks.
 */
export function localScope(address: string): string | undefined {
  // Unwraps IPv4-mapped IPv6.
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'loopback' || range === 'unspecified') return 'this machine';
  if (ownAddresses().has(parsed.toNormalizedString())) return 'this machine';
  if (range === 'linkLocal') return 'a link-local address';
  return OF_THE_PLATFORM.has(parsed.toString()) ? 'a metadata service' : undefined;
}

/**
 * False for this machine, private and local networks, metadata services, special-purpose ranges and any IPv6 address
 * that embeds an IPv4 one; also for invalid addresses.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || OF_THE_PLATFORM.has(address)) return false;
  if (parsed instanceof ipaddr.IPv6 && (!parsed.match(globalIpv6()) || isIsatap(parsed))) return false;
  return !ownAddresses().has(parsed.toNormalizedString());
}

/** The lower half is `0:5efe` (or `200:5efe`) and an IPv4 address, under any prefix. */
const isIsatap = ({ parts }: ipaddr.IPv6): boolean => ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe;

/** Addresses of this machine: services that listen on all interfaces are also reachable by its public address. */
function ownAddresses(): Set<string> {
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return new Set(interfaces.map(({ address }) => ipaddr.parse(address).toNormalizedString()));
}
