/** What requests of the model may reach: names become addresses here, and public addresses are told from the others. */

export interface Network {
  /** Every address of a name, as the system's resolver has them. Rejects when there is none. */
  resolve(name: string): Promise<string[]>;
  /** Whether it is an address of the internet at large, and not one of this machine. */
  isPublic(address: string): Promise<boolean>;
}

export const systemNetwork: Network = {
  async resolve(name) {
    const { lookup } = await import('node:dns/promises');
    return (await lookup(name, { all: true })).map(({ address }) => address);
  },
  isPublic: async (address) => (await import('./public-address.ts')).isPublicAddress(address),
};
