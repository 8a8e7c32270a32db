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

/** A logout of the managed login, as remote control takes part in it. Either `afterReply` or `abandon` is called. */
export interface RemoteLogout {
  /** Forgets the cloud sessions; called after the token was removed. */
  forgetSession(): void;
  /** Permits other processes to start remote control again, unless this process hosts the tunnel. */
  beforeReply(): Promise<void>;
  /** Ends a tunnel of this process, and the cloud session. Never rejects. */
  afterReply(): Promise<void>;
  /** The logout has failed with the login intact. */
  abandon(): Promise<void>;
}

export interface LogoutRemoteControl {
  /**
   * Ends remote control of this machine and prevents its start, unless this process hosts the tunnel. Throws
   * `internal.error`; the logout fails then.
   */
  beginLogout(): Promise<RemoteLogout>;
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

  /** The slot of the login that requests use now; undefined for a provider without one. */
  async function slotOf(provider: string): Promise<Slot | undefined> {
    if (provider === MANAGED_PROVIDER) {
      const { oauthHost, reference } = await account.loginAddresses();
      return { key: reference.key, oauthHost };
    }
    const reference = own(config.stored().providers, provider)?.oauth;
    return reference && account.slotOf(reference);
  }

  async function removeToken({ key }: Slot): Promise<StoredToken | undefined> {
    try {
      return await account.tokens.remove(key);
    } catch (error) {
      const message = `The login could not be removed: ${errorMessage(error)}`;
      throw new ServiceError('internal.error', message, { cause: error });
    }
  }

  async function revoke({ slot, token }: Grant): Promise<void> {
    if (token.refresh_token === '') return;
    await account.oauth.revoke(slot.oauthHost, token.refresh_token).catch((error: unknown) => {
      log.info(`the grant of a login could not be revoked: ${errorMessage(error)}`);
    });
  }

  return async (provider, by) => {
    const isManaged = provider === MANAGED_PROVIDER;
    const ending = isManaged ? await remote.beginLogout() : undefined;
    let grant: Grant | undefined;
    let isRemoved = false;

    async function followUp(): Promise<void> {
      await ending?.afterReply();
      // Last, because it ends the cloud sessions of the grant too.
      if (isManaged && grant) await revoke(grant);
    }

    try {
      await flows.exclusively(provider, async () => {
        const slot = await slotOf(provider);
        const token = slot && (await removeToken(slot));
        if (slot && token) grant = { slot, token };
        isRemoved = true;
        ending?.forgetSession();
        flows.cancel(provider);
        if (slot) await records.remove(provider, slot.key, { by });
      });
      await ending?.beforeReply();
    } catch (error) {
      if (!isRemoved) await ending?.abandon();
      else {
        // The token was removed, but the configuration could not be written.
        await ending?.beforeReply();
        void followUp();
      }
      throw error;
    }
    return { reply: { logged_out: true, provider }, followUp };
  };
}
