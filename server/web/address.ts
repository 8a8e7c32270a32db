/** Checks of fetched addresses: the form of a URL, and the addresses that its host resolves to (SSRF protection). */
import { isIP } from 'node:net';
import { abortable } from '#server/async/abortable.ts';
import type { Network } from '#server/net/network.ts';
import { WebFailure } from './failure.ts';

const MAX_URL_CHARS = 8192;

/**
 * Normalizes the URL to the only form that rules see and that is requested: no fragment, no dot at the end of the host;
 * the parser has already converted every spelling of an IP address. Throws `WebFailure`.
 */
export function webUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL_CHARS || !URL.canParse(text, base?.href)) throw new WebFailure('has no valid URL');
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new WebFailure(`has a URL of ${url.protocol}, and only http: and https: are fetched`);
  }
  if (url.username || url.password) throw new WebFailure('has a URL with a user name or password, which are not sent');
  url.hash = '';
  url.hostname = url.hostname.replace(/\.+$/, '');
  return url;
}

const NOT_PUBLIC = 'is not on the public internet; private and local addresses are not fetched';

/** Resolves a URL's host to addresses, all of which are public. Throws `WebFailure`, and the signal's reason. */
export async function publicAddresses(
  { hostname }: URL,
  network: Network,
  signal: AbortSignal,
): Promise<[string, ...string[]]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) throw new WebFailure(NOT_PUBLIC);
  const [first, ...rest] = isIP(host) === 0 ? await resolve(host, network, signal) : [host];
  if (first === undefined) throw new WebFailure(`could not be reached: ${host} has no address`);
  for (const address of [first, ...rest]) if (!(await network.isPublic(address))) throw new WebFailure(NOT_PUBLIC);
  return [first, ...rest];
}

async function resolve(name: string, network: Network, signal: AbortSignal): Promise<string[]> {
  try {
    return await abortable(network.resolve(name), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new WebFailure(`could not be reached: ${name} was not found`, { cause: error });
  }
}
