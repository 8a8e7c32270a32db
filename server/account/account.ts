/** The account's entry point: region, addresses, slots and tokens, from the configuration and environment in effect. */
import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { createFirstUses } from './first-uses.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { OAuthRef } from '#schema/rest/model.ts';
import type { AuthSummary } from '#schema/rest/provider.ts';
import {
  addressesOf,
  loginAddressesOf,
  regionOf,
  slotOfReference,
  type AddressInputs,
  type CloudAddresses,
  type LoginAddresses,
} from './addresses.ts';
import { readCloudSettings } from './cloud-settings.ts';
import { MANAGED_PROVIDER, type Slot } from './credential-slots.ts';
import type { Identity } from './identity.ts';
import { createOAuthClient, type OAuthClient } from './oauth-client.ts';
import type { Region } from './regions.ts';
import { createAccessTokens, type AccessTokens, type ReplayOptions } from './tokens.ts';

const DEFAULT_CLIENT_ID = 'service-code-local';

/** The managed login at run time. */
export interface ManagedLogin {
  slot: Slot;
  /** The managed base URL, without a trailing slash. */
  baseUrl: string;
}

export type LoginStatus = NonNullable<AuthSummary['managed_provider']>['status'];

export interface Account {
  /** Makes no request. */
  region(): Promise<Region>;
  /** The addresses that do not depend on a login. */
  addresses(): Promise<CloudAddresses>;
  /** The addresses that a login of the managed provider uses, with the region that a user requests for it. */
  loginAddresses(region?: Region): Promise<LoginAddresses>;
  /** Undefined unless the managed provider's record with a login is stored; its token may be missing. */
  managedLogin(): Promise<ManagedLogin | undefined>;
  /** The slot of a login, found by its key. */
  slotOf(reference: OAuthRef): Promise<Slot>;
  /** Runs a request with the access token of a login: `AccessTokens.withAccessToken`. */
  authorized<Reply extends { readonly status: number }>(
    reference: OAuthRef,
    send: (accessToken: string) => Promise<Reply>,
    options?: ReplayOptions<Reply>,
  ): Promise<Reply>;
  /** The result of `AccessTokens.readiness` for a login. */
  readiness(reference: OAuthRef): Promise<'ready' | 'missing' | 'refused'>;
  /** Whether the slot of a login has an access token, according to its file. */
  hasToken(reference: OAuthRef): Promise<boolean>;
  /** Status of the managed login; undefined without its record. Never fails, makes no request. */
  status(): Promise<LoginStatus | undefined>;
  readonly tokens: AccessTokens;
  readonly oauth: OAuthClient;
  /** Called with each address before its use: logs a warning at the first one that is not encrypted. */
  noteUse(address: string): void;
  close(): void;
}

export interface AccountDeps {
  home: string;
  documents: Documents;
  holder: LeaseHolder;
  config: Pick<Config, 'stored'>;
  env: () => NodeJS.ProcessEnv;
  identity: Identity;
  /** Must not follow redirects. */
  fetch: Fetch;
  clock: Clock;
  log: Logger;
}

/** File of the home with the region that an installer has chosen. */
const MARKER = 'region';

/** Creates the service; nothing is read or requested before its first use. */
export function createAccount(deps: AccountDeps): Account {
  const { home, documents, holder, config, env, identity, fetch, clock, log } = deps;
  const noteUse = createFirstUses(log);
  const cloud = () => readCloudSettings(config.stored().cloud);
  const oauth = createOAuthClient({
    fetch,
    clientId: () => cloud().clientId ?? DEFAULT_CLIENT_ID,
    headers: identity.headers,
    noteUse,
    clock,
  });
  const tokens = createAccessTokens({ home, documents, holder, oauth, env, clock, log });

  async function inputs(): Promise<AddressInputs> {
    // An unreadable marker is treated as missing.
    const marker = await documents.getText(MARKER).catch(() => undefined);
    return { env: env(), cloud: cloud(), providers: config.stored().providers, marker };
  }
  const managed = () => config.stored().providers?.[MANAGED_PROVIDER];
  const slotOf = async (reference: OAuthRef) => slotOfReference(reference, await inputs());

  return {
    tokens,
    oauth,
    noteUse,
    slotOf,
    region: async () => regionOf(await inputs()),
    addresses: async () => addressesOf(await inputs()),
    loginAddresses: async (region) => loginAddressesOf(await inputs(), region),
    async managedLogin() {
      if (!managed()?.oauth) return undefined;
      const { oauthHost, baseUrl, reference } = loginAddressesOf(await inputs());
      return { slot: { key: reference.key, oauthHost }, baseUrl };
    },
    authorized: async (reference, send, options) => tokens.withAccessToken(await slotOf(reference), send, options),
    readiness: async (reference) => tokens.readiness(await slotOf(reference)),
    hasToken: async (reference) => (await tokens.state((await slotOf(reference)).key)).state === 'valid',
    async status() {
      if (!managed()) return undefined;
      const slot = await tokens.state(loginAddressesOf(await inputs()).reference.key);
      if (slot.state === 'missing') return 'unauthenticated';
      if (slot.state === 'revoked') return 'revoked';
      const past = slot.expiresAt !== 0 && slot.expiresAt * 1000 <= clock.now();
      return past && !slot.refreshable ? 'expired' : 'authenticated';
    },
    close: tokens.close,
  };
}
