/** Requests to the managed base URL other than those of models: usage, user information, titles. */
import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { own } from '#server/config/effective.ts';
import { envText } from '#server/env.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { readBounded } from '#server/net/read-bounded.ts';
import { asRecord, tryParseJson } from '#server/text/json.ts';
import { cutText } from '#server/text/truncate.ts';
import type { InBandError, UsageResult, UserInfoResult } from '#schema/rest/oauth.ts';
import type { Account, ManagedLogin } from './account.ts';
import { cloudErrorMessage } from './cloud-errors.ts';
import { normalized } from './cloud-settings.ts';
import { MANAGED_PROVIDER } from './credential-slots.ts';
import { headerLines, mergeHeaders, type Identity } from './identity.ts';
import { AccessTokenError } from './tokens.ts';
import { readQuota } from './usage.ts';
import { readUserInfo } from './user-info.ts';

const TIMEOUT_MS = 8000;
const MAX_BYTES = 256 * 1024;
const TITLE_CHARS = 200;

/** A request that failed. The message is for people and has no secret. */
class ManagedApiError extends Error {
  override readonly name = 'ManagedApiError';
  /** HTTP status of the cloud; undefined without an answer. */
  readonly status: number | undefined;

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.status = status;
  }
}

export interface ManagedApi {
  /** Never rejects: failures are part of the result. */
  usage(provider: string): Promise<UsageResult>;
  /** Never rejects: failures are part of the result. */
  userInfo(provider: string): Promise<UserInfoResult>;
  /** Returns a title of at most 200 characters. Rejects if there is no login, and for each failure of the cloud. */
  chatTitle(content: string): Promise<string>;
}

export interface ManagedApiDeps {
  account: Pick<Account, 'managedLogin' | 'slotOf' | 'tokens' | 'noteUse'>;
  config: Pick<Config, 'stored'>;
  env: () => NodeJS.ProcessEnv;
  identity: Pick<Identity, 'headers'>;
  /** Must not follow redirects: a token is sent to no other address. */
  fetch: Fetch;
  clock: Clock;
}

/** Creates the service; nothing is read or requested before its first use. */
export function createManagedApi({ account, config, env, identity, fetch, clock }: ManagedApiDeps): ManagedApi {
  async function loginOf(provider: string): Promise<ManagedLogin> {
    const login = await (provider === MANAGED_PROVIDER ? account.managedLogin() : otherLogin(provider));
    if (!login) throw new ManagedApiError('Nobody is logged in with this provider; log in first');
    return login;
  }

  async function otherLogin(provider: string): Promise<ManagedLogin | undefined> {
    const record = own(config.stored().providers, provider);
    const baseUrl = normalized(record?.baseUrl ?? '');
    return record?.oauth && baseUrl ? { slot: await account.slotOf(record.oauth), baseUrl } : undefined;
  }

  /** Returns the parsed body of a 2xx reply. Throws `ManagedApiError` and `AccessTokenError`. */
  async function request(
    { slot, baseUrl }: ManagedLogin,
    path: string,
    init: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<{ status: number; body: unknown }> {
    const url = `${baseUrl}${path}`;
    account.noteUse(url);
    const limit = new AbortController();
    const stop = clock.setTimeout(() => limit.abort(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
    const tokens: string[] = [];
    try {
      const { signal } = limit;
      const send = (token: string) => {
        tokens.push(token);
        const headers = mergeHeaders(init.headers ?? identity.headers(), {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(init.body !== undefined && { 'content-type': 'application/json' }),
        });
        return fetch(url, { ...init, headers, signal });
      };
      const response = await account.tokens.withAccessToken(slot, send, {
        signal,
        discard: (refused) => refused.body?.cancel(),
      });
      const text = Buffer.from(await readBounded(response, MAX_BYTES)).toString('utf8');
      const { status } = response;
      if (!response.ok) throw new ManagedApiError(cloudErrorMessage(text, status, tokens), { status });
      return { status, body: tryParseJson(text) };
    } catch (error) {
      if (error instanceof ManagedApiError || error instanceof AccessTokenError) throw error;
      const cause: unknown = limit.signal.aborted ? limit.signal.reason : error;
      throw new ManagedApiError(`The cloud could not be reached: ${errorMessage(cause)}`, { cause });
    } finally {
      stop();
    }
  }

  /** Requests a resource; a reply that `read` does not accept is a failure. */
  async function get<Value>(
    provider: string,
    path: string,
    read: (body: unknown) => Value | undefined,
  ): Promise<{ value: Value } | InBandError> {
    try {
      const { status, body } = await request(await loginOf(provider), path);
      const value = read(body);
      if (value === undefined) throw new ManagedApiError('The cloud sent an invalid reply', { status });
      return { value };
    } catch (error) {
      const status = error instanceof ManagedApiError ? error.status : undefined;
      return { kind: 'error', message: errorMessage(error), ...(status !== undefined && { status }) };
    }
  }

  return {
    async usage(provider) {
      const result = await get(provider, '/usages', readQuota);
      return 'value' in result ? { kind: 'ok', quota: result.value } : result;
    },
    async userInfo(provider) {
      const result = await get(provider, '/me', readUserInfo);
      return 'value' in result ? { kind: 'ok', userInfo: result.value } : result;
    },
    async chatTitle(content) {
      const login = await loginOf(MANAGED_PROVIDER);
      const record = own(config.stored().providers, MANAGED_PROVIDER);
      const extra = headerLines(envText(env(), 'SERVICE_CODE_CUSTOM_HEADERS'));
      const { body } = await request(login, '/tools', {
        method: 'POST',
        headers: mergeHeaders(extra, identity.headers(), record?.customHeaders),
        body: JSON.stringify({ method: 'chat_title', params: { chat_content: content } }),
      });
      const title = asRecord(body)?.title;
      if (typeof title !== 'string' || title.trim() === '') throw new ManagedApiError('The cloud sent no title');
      return cutText(title.trim(), TITLE_CHARS);
    },
  };
}
