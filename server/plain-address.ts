/** The IPv4 address where IPv6 contains it, as a socket that listens on `::` reports its peers; else the address. */
export const plainAddress = (address: string): string => /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
