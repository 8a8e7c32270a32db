/** Connections to addresses that were looked at before: the name of the host is not resolved a second time. */
import { isIPv4, type LookupFunction } from 'node:net';
import type { Dispatcher, EnvHttpProxyAgent } from 'undici';
import { dispatcherOptions, type Timeouts } from './dispatcher.ts';

type Undici = Pick<typeof import('undici'), 'EnvHttpProxyAgent' | 'Pool'>;

/**
 * A dispatcher for requests to one host, whose addresses these are. A proxy of the environment is asked for a tunnel to
 * an address, since what it would make of the name is not known here; certificates are those of the name.
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
    // Of the proxy itself, which is the user's choice and may be anywhere.
    clientFactory: (proxy, settings) => new Pool(proxy, settings).compose(toAddress),
  });
}

/** Node asks only for names: an address in the place of the host is connected to as it is. */
function lookupOf(addresses: readonly [string, ...string[]]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
  return (_name, { all }, callback) => {
    if (all) callback(null, entries);
    else callback(null, addresses[0], entries[0]?.family);
  };
}

/** The target of a CONNECT, `<host>:<port>`, with the host's address; a proxy may know no IPv6. */
function tunnelTo(addresses: readonly [string, ...string[]], target: string): string {
  const port = target.slice(target.lastIndexOf(':') + 1);
  const address = addresses.find((candidate) => isIPv4(candidate)) ?? addresses[0];
  return isIPv4(address) ? `${address}:${port}` : `[${address}]:${port}`;
}
