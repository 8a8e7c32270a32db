/** Unwraps an IPv4-mapped IPv6 address, as sockets listening on `::` report IPv4 peers; others are unchanged. */
export const plainAddress = (address: string): string => /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
