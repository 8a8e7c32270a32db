/** Who may send requests: credentials, hosts, origins, the ban of clients that guess, by the kind of connection. */
import { createBan } from '#server/auth/ban.ts';
import { createCredentials, type Credentials } from '#server/auth/credentials.ts';
import { createGuard, type Guard } from '#server/auth/guard.ts';
import { createHostCheck, isLoopbackBind } from '#server/auth/hosts.ts';
import { createPolicies, type Policies } from '#server/auth/policies.ts';
import type { TokenFile } from '#server/auth/token.ts';
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
}

export interface Access {
  readonly credentials: Credentials;
  /** Rules of all connections to the port. */
  readonly bind: ConnectionRules;
  /** Creates the rules of a connection of the remote-control tunnel. */
  tunnel(facts: TunnelConnection): ConnectionRules;
  /** The facts that decide which endpoints and frames a connection has. */
  mounts(facts: ConnectionFacts): BindOptions;
}

const listed = (text: string | undefined) => (text ?? '').split(',').flatMap((entry) => entry.trim() || []);

/** Creates the rules of all connections, by the options and the environment at the start. */
export function createAccess(options: AppOptions, token: TokenFile): Access {
  const { bypassAuth, debugEndpoints, allowRemoteShutdown, allowRemoteTerminals } = options;
  const env = options.env();
  const credentials = createCredentials(token, env.SERVICE_CODE_PASSWORD);
  const hostCheck = createHostCheck({
    bindHost: options.host,
    allowedHosts: [...options.allowedHosts, ...listed(env.SERVICE_CODE_ALLOWED_HOSTS)],
  });
  const hostAllowed = env.SERVICE_CODE_DISABLE_HOST_CHECK === '1' ? () => true : hostCheck;
  const listedOrigins = new Set(listed(env.SERVICE_CODE_CORS_ORIGINS));
  const loopback = isLoopbackBind(options.host);
  const ban = createBan();

  const bind: ConnectionRules = {
    facts: BIND_CONNECTION,
    guard: createGuard({
      ban: loopback ? undefined : ban,
      hostAllowed,
      listedOrigins,
      credentials: bypassAuth ? undefined : credentials,
    }),
    policies: createPolicies({ loopback, needsCredentials: !bypassAuth, listedOrigins }),
    mounts: { loopback, bypassAuth, debugEndpoints, allowRemoteShutdown, allowRemoteTerminals },
    base: '/',
  };

  // The browser is on another machine, and the token is required also where the bind needs none.
  const tunnelMounts: BindOptions = { ...bind.mounts, loopback: false, bypassAuth: false };
  const tunnelPolicies = createPolicies({ loopback: false, needsCredentials: true, listedOrigins });

  return {
    credentials,
    bind,
    tunnel: (facts) => ({
      facts,
      guard: createGuard({ ban, hostAllowed, listedOrigins, credentials, publicAddress: facts }),
      policies: tunnelPolicies,
      mounts: tunnelMounts,
      base: `${facts.prefix}/`,
    }),
    mounts: ({ kind }) => (kind === 'tunnel' ? tunnelMounts : bind.mounts),
  };
}
