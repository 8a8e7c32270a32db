/** Who may send requests: credentials, hosts, origins, the ban of clients that guess. */
import { createBan } from '#server/auth/ban.ts';
import { createCredentials, type Credentials } from '#server/auth/credentials.ts';
import { createGuard, type Guard } from '#server/auth/guard.ts';
import { createHostCheck } from '#server/auth/hosts.ts';
import { createPolicies, type Policies } from '#server/auth/policies.ts';
import type { TokenFile } from '#server/auth/token.ts';
import type { AppOptions, BindOptions } from './options.ts';

export interface Access {
  readonly credentials: Credentials;
  readonly guard: Guard;
  readonly policies: Policies;
}

const listed = (text: string | undefined) => (text ?? '').split(',').flatMap((entry) => entry.trim() || []);

/** Creates the rules of a bind, by the options and the environment at the start. */
export function createAccess(options: AppOptions, bind: BindOptions, token: TokenFile): Access {
  const env = options.env();
  const credentials = createCredentials(token, env.SERVICE_CODE_PASSWORD);
  const hostCheck = createHostCheck({
    bindHost: options.host,
    allowedHosts: [...options.allowedHosts, ...listed(env.SERVICE_CODE_ALLOWED_HOSTS)],
  });
  const listedOrigins = new Set(listed(env.SERVICE_CODE_CORS_ORIGINS));
  const guard = createGuard({
    ban: bind.loopback ? undefined : createBan(),
    hostAllowed: env.SERVICE_CODE_DISABLE_HOST_CHECK === '1' ? () => true : hostCheck,
    listedOrigins,
    credentials: options.bypassAuth ? undefined : credentials,
  });
  const policies = createPolicies({ loopback: bind.loopback, needsCredentials: !options.bypassAuth, listedOrigins });
  return { credentials, guard, policies };
}
