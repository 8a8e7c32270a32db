/** Logins and logouts, and the requests to the managed cloud that they permit. */
import type { Account } from '#server/account/account.ts';
import { createLoginFlows, type LoginFlows } from '#server/account/login-flows.ts';
import { createLogout, type Logout, type LogoutRemoteControl } from '#server/account/logout.ts';
import { createManagedApi, type ManagedApi } from '#server/account/managed-api.ts';
import type { Logger } from '#server/logging/log.ts';
import { createLoginRecords } from '#server/models/providers/login-edits.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { Disposers } from './disposers.ts';
import type { Home } from './open-home.ts';
import type { AppOptions } from './options.ts';

export interface Logins {
  readonly logins: LoginFlows;
  /** See `createLogout`. */
  logout(provider: string, by?: Caller): Promise<Logout>;
  readonly managedApi: ManagedApi;
}

export interface LoginsDeps {
  options: AppOptions;
  home: Home;
  account: Account;
  fetch: Fetch;
  /** Updates the models of the managed provider. */
  refreshManaged(by: Caller | undefined): Promise<unknown>;
  remote: LogoutRemoteControl;
  log: Logger;
}

/** Creates the services; nothing is read or requested before their first use. */
export function openLogins(deps: LoginsDeps, opened: Disposers): Logins {
  const { options, home, account, fetch, refreshManaged, remote, log } = deps;
  const { clock, env } = options;
  const { config, identity } = home;
  const records = createLoginRecords(config);
  const logins = opened.add(createLoginFlows({ account, config, records, refreshManaged, clock, log }));
  return {
    logins,
    logout: createLogout({ account, config, flows: logins, records, remote, log }),
    managedApi: createManagedApi({ account, config, env, identity, fetch, clock }),
  };
}
