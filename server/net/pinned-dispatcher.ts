/** Dispatcher for pinned addresses: the host name is not resolved a second time. */
import { isIPv4, type LookupFunction } from 'node:net';
import type { Dispatcher, EnvHttpProxyAgent } from 'undici';
import { dispatcherOptions, type Timeouts } from './dispatcher.ts';

type Undici = Pick<typeof import('undici'), 'EnvHttpProxyAgent' | 'Pool'>;

/**
 * Dispatcher for requests to one host with these addresses. A proxy of the environment is requested to tunnel to an
 * address, since it may resolve the name differently; certificates are verified against the name.
 */
export function pinnedDispatcher(
  { EnvHttpProxyAgent, Pool }: Undici,
  addresses: readonly [string, ...string[]],
  timeouts: Timeouts,
): EnvHttpProxyAgent {
  const { connect, ...options } = dispatcherOptions(timeouts);
  const toAddress: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (request, handler) =>
    dispatch({ ...request, path: tunnelTo(addresses, request.path) }, handler);
  return new EnvHttpProxyAgent({
    ...options,
    connect: { ...connect, lookup: lookupOf(addresses) },
    // Pool for the proxy itself, which is chosen by the user and may have any address.
    clientFactory: (proxy, settings) => new Pool(proxy, settings).compose(toAddress),
  });
}

/** Node calls the lookup only for names; it connects to a literal address directly. */
function lookupOf(addresses: readonly [string, ...string[]]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
  return (_name, { all }, callback) => {
    if (all) callback(null, entries);
    else callback(null, addresses[0], entries[0]?.family);
  };
}

/** Target of a CONNECT, `<host>:<port>`, with the host's address; IPv4 first, as a proxy may not support IPv6. */
function tunnelTo(addresses: readonly [string, ...string[]], target: string): string {
  const port = target.slice(target.lastIndexOf(':') + 1);
  const address = addresses.find((candidate) => isIPv4(candidate)) ?? addresses[0];
  return isIPv4(address) ? `${address}:${port}` : `[${address}]:${port}`;
}
