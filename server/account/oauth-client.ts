/** Requests to the OAuth host: device authorization, tokens, revocation. A public client without a secret. */
import * as z from 'zod';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { readBounded } from '#server/net/read-bounded.ts';
import { asRecord, tryParseJson } from '#server/text/json.ts';
import { cloudErrorMessage } from './cloud-errors.ts';
import { decimal } from './decimal.ts';

const TIMEOUT_MS = 30_000;
const REVOKE_TIMEOUT_MS = 3000;
const MAX_BYTES = 256 * 1024;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const DEFAULT_INTERVAL_S = 5;
const DEFAULT_EXPIRES_S = 900;

const required = z.string().trim().min(1);
const optionalText = z.string().optional().catch(undefined);

const deviceCodeSchema = z.object({
  device_code: required,
  user_code: required,
  verification_uri: z.string().catch(''),
  verification_uri_complete: required,
  /** Seconds. */
  expires_in: decimal.pipe(z.number().positive()).catch(DEFAULT_EXPIRES_S),
  /** Seconds. */
  interval: decimal.pipe(z.number().min(1)).catch(DEFAULT_INTERVAL_S),
});
export type DeviceCode = z.output<typeof deviceCodeSchema>;

const tokenReplySchema = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  /** Seconds. */
  expires_in: decimal.pipe(z.number().positive()),
  token_type: optionalText,
  scope: optionalText,
});
export type TokenReply = z.output<typeof tokenReplySchema>;

/** A request that got no valid reply. The message is for people and has no secret. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  /** HTTP status of the reply; undefined: the host could not be reached, or the request timed out or was aborted. */
  readonly status: number | undefined;
  /** Member `error` of the reply, such as `authorization_pending`. */
  readonly code: string | undefined;

  constructor(message: string, { status, code, cause }: { status?: number; code?: string; cause?: unknown } = {}) {
    super(message, { cause });
    this.status = status;
    this.code = code;
  }
}

/** All functions throw `OAuthError`. `host` is an OAuth host without a trailing slash. */
export interface OAuthClient {
  requestDeviceCode(host: string, signal?: AbortSignal): Promise<DeviceCode>;
  /** One poll for the token of a device code. */
  pollToken(host: string, deviceCode: string, signal?: AbortSignal): Promise<TokenReply>;
  refresh(host: string, refreshToken: string, signal?: AbortSignal): Promise<TokenReply>;
  /** Revokes a grant; waits at most 3 s. */
  revoke(host: string, refreshToken: string): Promise<void>;
}

export interface OAuthClientDeps {
  /** Must not follow redirects: a token is sent to no other address. */
  fetch: Fetch;
  clientId(): string;
  /** The complete identity headers. */
  headers(): Record<string, string>;
  /** Called with each address before a request. */
  noteUse(address: string): void;
  clock: Clock;
}

/** Creates the client; nothing is requested. */
export function createOAuthClient({ fetch, clientId, headers, noteUse, clock }: OAuthClientDeps): OAuthClient {
  async function post(
    url: string,
    fields: Record<string, string>,
    signal?: AbortSignal,
    timeoutMs = TIMEOUT_MS,
  ): Promise<{ status: number; ok: boolean; body: string }> {
    noteUse(url);
    const limit = new AbortController();
    const stop = clock.setTimeout(() => limit.abort(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    const signals = signal ? [limit.signal, signal] : [limit.signal];
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          ...headers(),
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ client_id: clientId(), ...fields }),
        signal: AbortSignal.any(signals),
      });
      const body = Buffer.from(await readBounded(response, MAX_BYTES)).toString('utf8');
      return { status: response.status, ok: response.ok, body };
    } catch (error) {
      const cause: unknown = limit.signal.aborted ? limit.signal.reason : error;
      throw new OAuthError(`The login service could not be reached: ${reasonOf(cause)}`, { cause });
    } finally {
      stop();
    }
  }

  async function read<Schema extends z.ZodType>(
    schema: Schema,
    ...request: Parameters<typeof post>
  ): Promise<z.output<Schema>> {
    const { status, ok, body } = await post(...request);
    const parsed = ok ? schema.safeParse(tryParseJson(body)) : undefined;
    if (parsed?.success) return parsed.data;
    const code = asRecord(tryParseJson(body))?.error;
    const [, { device_code, refresh_token }] = request;
    const secrets = [device_code, refresh_token].filter((secret) => secret !== undefined);
    const message =
      ok && code === undefined ? 'The login service sent an invalid reply' : cloudErrorMessage(body, status, secrets);
    throw new OAuthError(message, { status, ...(typeof code === 'string' && { code }) });
  }

  return {
    requestDeviceCode: (host, signal) => read(deviceCodeSchema, `${host}/api/oauth/device_authorization`, {}, signal),
    pollToken: (host, deviceCode, signal) =>
      read(tokenReplySchema, `${host}/api/oauth/token`, { device_code: deviceCode, grant_type: DEVICE_GRANT }, signal),
    refresh: (host, refreshToken, signal) =>
      read(
        tokenReplySchema,
        `${host}/api/oauth/token`,
        { refresh_token: refreshToken, grant_type: 'refresh_token' },
        signal,
      ),
    async revoke(host, refreshToken) {
      const fields = { token: refreshToken, token_type_hint: 'refresh_token' };
      const { status, ok, body } = await post(`${host}/api/oauth/revoke`, fields, undefined, REVOKE_TIMEOUT_MS);
      if (!ok) throw new OAuthError(cloudErrorMessage(body, status, [refreshToken]), { status });
    },
  };
}

/** The innermost message is the specific one: `connect ECONNREFUSED …` instead of `fetch failed`. */
function reasonOf(error: unknown): string {
  let message = errorMessage(error);
  for (let link: unknown = error, depth = 0; link instanceof Error && depth < 5; link = link.cause, depth++) {
    if (link.message) message = link.message;
  }
  return message;
}
