/** Resolves names and classifies addresses, to limit what requests to untrusted hosts can reach. */
import { isPublicAddress, localScope } from './public-address.ts';

export interface Network {
  /** All addresses of a name from the system's resolver. Rejects if it has none. */
  resolve(name: string): Promise<string[]>;
  /** True for an address of the public internet that does not belong to this machine. */
  isPublic(address: string): Promise<boolean>;
  /**
   * Describes the local target (`this machine`, a link-local address, a metadata service) of an address that a foreign
   * name must not resolve to. Undefined for all others, including private networks.
   */
  localScope(address: string): Promise<string | undefined>;
}

export const systemNetwork: Network = {
  async resolve(name) {
    const { lookup } = await import('node:dns/promises');
    return (await lookup(name, { all: true })).map(({ address }) => address);
  },
  isPublic: async (address) => isPublicAddress(address),
  localScope: async (address) => localScope(address),
};
