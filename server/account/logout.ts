/** Logout: removes the token, the records of the login, and then the grant at the cloud. */
import type { Config } from '#server/config/config.ts';
import { own } from '#server/config/effective.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { LoggedOut } from '#schema/rest/oauth.ts';
import type { Account } from './account.ts';
import { MANAGED_PROVIDER, type Slot } from './credential-slots.ts';
import type { LoginFlows } from './login-flows.ts';
import type { LoginRecords } from './login-records.ts';
import type { StoredToken } from './token-files.ts';

/** Remote control during one logout of the managed provider. */
export interface PreparedLogout {
  /** Called after the token file was removed: forgets all cached cloud sessions. */
  forgetSessions(): void;
  /** Called a single time before the reply, also after a failure: remote control may be started again. Never rejects. */
  release(): Promise<void>;
  /**
   * Called after the reply was sent, unless the logout failed with the login intact: ends a tunnel of this process and
   * its cloud session. Never rejects.
   */
  afterReply(): Promise<void>;
}

export interface LogoutRemoteControl {
  /**
   * Ends remote control of this machine, unless this process hosts the tunnel, and prevents its start until `release`.
   * Rejects if that is impossible; the logout fails then.
   */
  prepareLogout(): Promise<PreparedLogout>;
}

export interface Logout {
  reply: LoggedOut;
  /** To be called after the reply was sent. Never rejects. */
  followUp(): Promise<void>;
}

/** A removed token, and the login that it belonged to. */
interface Grant {
  slot: Slot;
  token: StoredToken;
}

export interface LogoutDeps {
  account: Pick<Account, 'loginAddresses' | 'slotOf' | 'tokens' | 'oauth'>;
  config: Pick<Config, 'stored'>;
  flows: Pick<LoginFlows, 'cancel' | 'exclusively'>;
  records: Pick<LoginRecords, 'remove'>;
  remote: LogoutRemoteControl;
  log: Logger;
}

/**
 * Creates the function that logs out of a provider; it succeeds for providers without a login. It throws
 * `internal.error` if remote control cannot be ended or the token file cannot be removed, with the login intact, and
 * `persistence.failure` if the configuration cannot be written.
 */
export function createLogout(deps: LogoutDeps): (provider: string, by?: Caller) => Promise<Logout> {
  const { account, config, flows, records, remote, log } = deps;

  /** The keys under which a login of the provider may be stored: that of requests, and that of its record. */
  async function slotsOf(provider: string): Promise<Slot[]> {
    const reference = own(config.stored().providers, provider)?.oauth;
    const stored = reference ? [await account.slotOf(reference)] : [];
    if (provider !== MANAGED_PROVIDER) return stored;
    const { oauthHost, reference: current } = await account.loginAddresses();
    return [{ key: current.key, oauthHost }, ...stored.filter(({ key }) => key !== current.key)];
  }

  async function revoke({ slot, token }: Grant): Promise<void> {
    if (token.refresh_token === '') return;
    await account.oauth.revoke(slot.oauthHost, token.refresh_token).catch((error: unknown) => {
      log.info(`the grant of a login could not be revoked: ${errorMessage(error)}`);
    });
  }

  return async (provider, by) => {
    const isManaged = provider === MANAGED_PROVIDER;
    const prepared = isManaged ? await orFail('Remote control could not be ended', remote.prepareLogout()) : undefined;
    const grants: Grant[] = [];
    let loggedOut = false;

    async function followUp(): Promise<void> {
      await prepared?.afterReply();
      // Last, because it ends the cloud sessions of the grant too.
      if (isManaged) await Promise.all(grants.map(revoke));
    }

    try {
      await flows.exclusively(provider, async () => {
        const slots = await slotsOf(provider);
        for (const slot of slots) {
          const token = await orFail('The login could not be removed', account.tokens.remove(slot.key));
          if (token) grants.push({ slot, token });
        }
        loggedOut = true;
        prepared?.forgetSessions();
        flows.cancel(provider);
        const keys = slots.map(({ key }) => key);
        await records.remove(provider, keys, { by });
      });
    } catch (error) {
      // The token is gone although the configuration could not be written.
      if (loggedOut) void followUp();
      throw error;
    } finally {
      await prepared?.release();
    }
    return { reply: { logged_out: true, provider }, followUp };
  };
}

async function orFail<Result>(what: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new ServiceError('internal.error', `${what}: ${errorMessage(error)}`, { cause: error });
  }
}
