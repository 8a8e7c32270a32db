/** What requests to strangers may reach: names become addresses here, and addresses are classified. */

export interface Network {
  /** Every address of a name, as the system's resolver has them. Rejects when there is none. */
  resolve(name: string): Promise<string[]>;
  /** Whether it is an address of the internet at large, and not one of this machine. */
  isPublic(address: string): Promise<boolean>;
  /**
   * Names what an address reaches that a name of somebody else must not lead to, such as `this machine` by its loopback or
   * other addresses, or a link-local address. Undefined for all other addresses, those of private networks included.
   */
  localScope(address: string): Promise<string | undefined>;
}

export const systemNetwork: Network = {
  async resolve(name) {
    const { lookup } = await import('node:dns/promises');
    return (await lookup(name, { all: true })).map(({ address }) => address);
  },
  isPublic: async (address) => (await import('./public-address.ts')).isPublicAddress(address),
  localScope: async (address) => (await import('./public-address.ts')).localScope(address),
};
