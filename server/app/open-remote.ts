/** Remote control of this machine: nothing of it is loaded before its first use. */
import type { Account } from '#server/account/account.ts';
import { lazyService } from '#server/async/lazy.ts';
import type { Logger } from '#server/logging/log.ts';
import type { AcceptConnection } from '#server/net/connection-facts.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { RemoteControl } from '#server/remote/remote-control.ts';
import type { Disposers } from './disposers.ts';
import type { Home } from './open-home.ts';
import type { AppOptions, BindOptions } from './options.ts';

export interface OpenRemoteDeps {
  options: AppOptions;
  serverId: string;
  bind: BindOptions;
  home: Home;
  account: Account;
  /** Must not follow redirects. */
  fetch: Fetch;
  /** The port on which the server listens. */
  port(): number;
  acceptConnection: AcceptConnection;
  log: Logger;
}

function refusalOf({ exposed, bypassAuth }: BindOptions, { trustedProxies }: AppOptions): string | undefined {
  if (trustedProxies) return 'Remote control cannot be combined with --trust-proxy.';
  if (exposed) return 'Remote control requires a loopback bind.';
  if (bypassAuth) return 'Remote control cannot be combined with --dangerous-bypass-auth.';
  return undefined;
}

function originOf({ host, certificate }: AppOptions, port: number): string {
  const scheme = certificate === undefined ? 'http' : 'https';
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the function that loads the service. */
export function openRemote(deps: OpenRemoteDeps, opened: Disposers): () => Promise<RemoteControl> {
  const { options, serverId, bind, home, account, fetch, port, acceptConnection, log } = deps;
  const service = lazyService(async () => {
    const { createRemoteControl } = await import('#server/remote/remote-control.ts');
    return createRemoteControl({
      home: options.home,
      serverId,
      documents: home.documents,
      holder: home.instance.holder,
      account,
      identity: home.identity,
      fetch,
      refusal: refusalOf(bind, options),
      localOrigin: () => originOf(options, port()),
      token: home.token.current,
      acceptConnection,
      clock: options.clock,
      log,
    });
  });
  return opened.add(service).load;
}
