/** Requests for the models of providers: the managed API's list, and the documents of registries. */
import type { Account } from '#server/account/account.ts';
import { cloudErrorMessage, cloudErrorText } from '#server/account/cloud-errors.ts';
import { headerLines, mergeHeaders, type Identity } from '#server/account/identity.ts';
import { AccessTokenError } from '#server/account/tokens.ts';
import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import type { OAuthRef } from '#schema/rest/model.ts';
import { getDocument, requestReason, withinTime, type DocumentReply } from './get-document.ts';
import { readManagedListing, type ListedModel } from './managed-listing.ts';

const TIMEOUT_MS = 10_000;
const MAX_REASON_CHARS = 300;

export interface RemoteModelsDeps {
  account: Pick<Account, 'authorized' | 'noteUse'>;
  config: Pick<Config, 'effective'>;
  identity: Identity;
  env: () => NodeJS.ProcessEnv;
  /** Must follow no redirects. */
  fetch: Fetch;
  network: Pick<Network, 'resolve' | 'localScope'>;
  clock: Clock;
  /** Aborted when the server stops. */
  signal: AbortSignal;
}

/** The managed API: its base URL, the provider whose aliases are declared, and the headers that the user added. */
export interface ManagedTarget {
  base: string;
  provider: string;
  customHeaders: Record<string, string> | undefined;
}

export type ReadRegistry<T> = (bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal, key: string) => Promise<T>;

/** All functions take at most 10 s and throw errors with a reason for people, which contains no key. */
export interface RemoteModels {
  listWithLogin(target: ManagedTarget, reference: OAuthRef): Promise<ListedModel[]>;
  listWithKey(target: ManagedTarget, key: string): Promise<ListedModel[]>;
  /**
   * Requests the document of a registry with each key in order, until one is accepted and `read` resolves for its
   * reply. `read` may transfer the bytes.
   */
  registry<T>(url: string, keys: readonly string[], read: ReadRegistry<T>): Promise<T>;
}

export function createRemoteModels(deps: RemoteModelsDeps): RemoteModels {
  const { account, config, identity, env, clock, signal: stopped } = deps;
  const limited = <T>(work: (signal: AbortSignal) => Promise<T>) => withinTime(TIMEOUT_MS, clock, stopped, work);

  function getModels({ base, customHeaders }: ManagedTarget, key: string, signal: AbortSignal): Promise<DocumentReply> {
    const lines = headerLines(env().SERVICE_CODE_CUSTOM_HEADERS);
    const headers = mergeHeaders(lines, identity.headers(), customHeaders, { Accept: 'application/json' });
    return getDocument(`${base}/models`, { headers, key, leavesOrigin: false, signal }, deps);
  }

  function listed({ provider }: ManagedTarget, { status, bytes }: DocumentReply, secrets: string[]): ListedModel[] {
    const body = new TextDecoder().decode(bytes);
    if (status < 200 || status > 299) throw new Error(cloudErrorMessage(body, status, secrets));
    return readManagedListing(body, provider);
  }

  async function getRegistry(url: string, key: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const headers = { accept: 'application/json', 'user-agent': identity.userAgent(config.effective().identity) };
    const { status, bytes } = await getDocument(url, { headers, key, leavesOrigin: true, signal }, deps);
    if (status >= 200 && status < 300) return bytes;
    throw new Error(cloudErrorText(new TextDecoder().decode(bytes), [key]) ?? `HTTP ${status}`);
  }

  return {
    async listWithLogin(target, reference) {
      account.noteUse(target.base);
      const tokens: string[] = [];
      try {
        return await limited(async (signal) => {
          const send = (token: string) => {
            tokens.push(token);
            return getModels(target, token, signal);
          };
          return listed(target, await account.authorized(reference, send, { signal }), tokens);
        });
      } catch (error) {
        throw failure(error, tokens);
      }
    },
    async listWithKey(target, key) {
      account.noteUse(target.base);
      try {
        return await limited(async (signal) => listed(target, await getModels(target, key, signal), [key]));
      } catch (error) {
        throw failure(error, [key]);
      }
    },
    async registry(url, keys, read) {
      try {
        return await limited(async (signal) => {
          let refused: unknown;
          for (const key of keys) {
            try {
              return await read(await getRegistry(url, key, signal), signal, key);
            } catch (error) {
              refused = error;
              if (signal.aborted) break;
            }
          }
          throw refused;
        });
      } catch (error) {
        throw failure(error, keys);
      }
    },
  };
}

function reasonOf(error: unknown): string {
  const isLoggedOut = error instanceof AccessTokenError && error.reason !== 'failed';
  return isLoggedOut ? `Login required: ${error.message}` : requestReason(error);
}

/** A reason of limited length, without keys that the other server may have returned. */
function failure(error: unknown, secrets: readonly string[]): Error {
  const reason = secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '[redacted]'), reasonOf(error));
  return new Error(reason.length > MAX_REASON_CHARS ? `${reason.slice(0, MAX_REASON_CHARS)}…` : reason);
}
