/** Who may send requests: credentials, hosts, origins, the ban of clients that guess, by the kind of connection. */
import { createBan } from '#server/auth/ban.ts';
import { createCredentials, type Credentials } from '#server/auth/credentials.ts';
import { createGuard, type Guard } from '#server/auth/guard.ts';
import { createHostCheck, isLoopbackBind } from '#server/auth/hosts.ts';
import { createPolicies, type Policies } from '#server/auth/policies.ts';
import type { TokenFile } from '#server/auth/token.ts';
import { clientOf, type Client, type ReceivedRequest } from '#server/net/forwarded.ts';
import { BIND_CONNECTION, type ConnectionFacts, type TunnelConnection } from '#server/net/connection-facts.ts';
import type { AppOptions, BindOptions } from './options.ts';

/** The decisions that depend on the connection of a request. */
export interface ConnectionRules {
  readonly facts: ConnectionFacts;
  readonly guard: Guard;
  readonly policies: Policies;
  /** Decides which endpoints and frames exist. */
  readonly mounts: BindOptions;
  /** Path of the page in a browser; begins and ends with a slash. */
  readonly base: string;
  /** Removed from request paths that begin with it: `base` without the final slash; empty in the tunnel. */
  readonly basePath: string;
  /** Who sent a request. */
  client(request: ReceivedRequest): Client;
}

export interface Access {
  readonly credentials: Credentials;
  /** Rules of all connections to the port. */
  readonly bind: ConnectionRules;
  /** Creates the rules of a connection of the remote-control tunnel. */
  tunnel(facts: TunnelConnection): ConnectionRules;
  /** Calls `listener` once: at the first request on a loopback bind with the header of a proxy, if none is trusted. */
  onProxySeen(listener: () => void): void;
  /** The facts that decide which endpoints and frames a connection has. */
  mounts(facts: ConnectionFacts): BindOptions;
}

const listed = (text: string | undefined) => (text ?? '').split(',').flatMap((entry) => entry.trim() || []);

/** Creates the rules of all connections, by the options and the environment at the start. */
export function createAccess(options: AppOptions, token: TokenFile): Access {
  const { bypassAuth, debugEndpoints, allowRemoteShutdown, allowRemoteTerminals, basePath, trustedProxies } = options;
  const env = options.env();
  const credentials = createCredentials(token, env.SERVICE_CODE_PASSWORD);
  const hostCheck = createHostCheck({
    bindHost: options.host,
    allowedHosts: [...options.allowedHosts, ...listed(env.SERVICE_CODE_ALLOWED_HOSTS)],
  });
  const hostAllowed = env.SERVICE_CODE_DISABLE_HOST_CHECK === '1' ? () => true : hostCheck;
  const listedOrigins = new Set(listed(env.SERVICE_CODE_CORS_ORIGINS));
  // A proxy on this machine connects from loopback as well: no connection is known to be this machine's own then.
  const exposed = !isLoopbackBind(options.host) || trustedProxies !== undefined;
  let proxySeen: (() => void) | undefined;
  const ban = createBan();

  const bind: ConnectionRules = {
    facts: BIND_CONNECTION,
    guard: createGuard({
      ban: exposed ? ban : undefined,
      hostAllowed,
      listedOrigins,
      credentials: bypassAuth ? undefined : credentials,
    }),
    policies: createPolicies({ exposed, needsCredentials: !bypassAuth, listedOrigins }),
    mounts: { exposed, bypassAuth, debugEndpoints, allowRemoteShutdown, allowRemoteTerminals },
    base: `${basePath}/`,
    basePath,
    client(request) {
      if (!exposed && proxySeen && request.headers['x-forwarded-for'] !== undefined) {
        proxySeen();
        proxySeen = undefined;
      }
      return clientOf(request, trustedProxies);
    },
  };

  // The browser is on another machine, and the token is required also where the bind needs none.
  const tunnelMounts: BindOptions = { ...bind.mounts, exposed: true, bypassAuth: false };
  const tunnelPolicies = createPolicies({ exposed: true, needsCredentials: true, listedOrigins });

  return {
    credentials,
    bind,
    tunnel: (facts) => ({
      facts,
      guard: createGuard({ ban, hostAllowed, listedOrigins, credentials, publicAddress: facts }),
      policies: tunnelPolicies,
      mounts: tunnelMounts,
      base: `${facts.prefix}/`,
      // The relay has removed its prefix.
      basePath: '',
      client: ({ headers }) => ({ address: facts.remoteAddress, scheme: facts.scheme, host: headers.host }),
    }),
    onProxySeen(listener) {
      proxySeen = listener;
    },
    mounts: ({ kind }) => (kind === 'tunnel' ? tunnelMounts : bind.mounts),
  };
}
