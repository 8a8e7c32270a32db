/**
 * Requests to the relay with a cloud session: obtained with the access token of the managed login, kept in memory only,
 * never passed to clients of this server.
 */
import * as z from 'zod';
import type { Account } from '#server/account/account.ts';
import { cloudErrorMessage } from '#server/account/cloud-errors.ts';
import { MANAGED_PROVIDER, type Slot } from '#server/account/credential-slots.ts';
import { isPlaceholder } from '#server/account/regions.ts';
import { AccessTokenError } from '#server/account/tokens.ts';
import type { Clock } from '#server/clock.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { readBounded } from '#server/net/read-bounded.ts';
import { asRecord, tryParseJson } from '#server/text/json.ts';

const TIMEOUT_MS = 10_000;
/** For requests whose failure has no consequence. */
const BEST_EFFORT_MS = 3000;
const MAX_BYTES = 1024 * 1024;
const RENEW_BEFORE_MS = 300_000;
/** A longer request to wait would be a mistake of the relay. */
const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;

/** A secret of the relay that is sent as bearer: the error for any other text would quote it. */
export const bearerSchema = z
  .string()
  .max(4096)
  .regex(/^[!-~]+$/);

const sessionSchema = z.object({
  session_token: bearerSchema,
  /** Seconds. */
  expires_in: z.number().positive(),
});

/** A failed request. Its message is for people and has no secret. */
export class CloudRequestError extends Error {
  /** HTTP status; undefined without a reply. */
  readonly status: number | undefined;
  /** `error.code` of the reply. */
  readonly code: string | undefined;
  /** Milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: { status?: number; code?: string; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: facts.cause });
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterMs = facts.retryAfterMs;
  }

  /** The request may succeed later. */
  get transient(): boolean {
    return this.status === undefined || this.status === 429 || this.status >= 500;
  }
}

export interface CloudReply {
  status: number;
  body: string;
  retryAfterMs: number | undefined;
}

/** A cloud session that was taken out of use, for its revocation. */
export interface CapturedSession {
  base: string;
  token: string;
}

interface Session extends CapturedSession {
  slotKey: string;
  /** Milliseconds of the clock. */
  expiresAt: number;
}

export interface CloudClient {
  /**
   * Sends a request below `<relay>/v1/remote` with the cloud session, and a single time again after a 401 with a new
   * one. Throws `auth.token_missing`, `auth.token_unauthorized`, and `CloudRequestError` for a reply outside 2xx.
   */
  request(method: string, path: string, options?: { json?: unknown; signal?: AbortSignal }): Promise<CloudReply>;
  /** Throws `auth.token_missing` or `auth.token_unauthorized` if the managed login cannot be used; waits 10 s at most. */
  checkLogin(): Promise<Slot>;
  /** Forgets the session, for example because its ticket was refused. */
  drop(): void;
  /** Forgets the session and returns it, for a later `finish`. */
  capture(): CapturedSession | undefined;
  /** Sends a last request with a captured session: errors are ignored, 3 s at most. */
  finish(session: CapturedSession, method: string, path: string): Promise<void>;
}

export interface CloudClientDeps {
  account: Account;
  /** Must not follow redirects: a session is sent to no other address. */
  fetch: Fetch;
  headers(): Record<string, string>;
  clock: Clock;
}

const details = { details: { provider_id: MANAGED_PROVIDER } };
const loginMissing = () =>
  new ServiceError('auth.token_missing', 'Remote control needs a login; log in first', details);
const loginRefused = (cause?: unknown) =>
  new ServiceError('auth.token_unauthorized', 'The login has ended; log in again', { ...details, cause });

/** Milliseconds of a `Retry-After` header: seconds, or a date. */
function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? boundedRetryAfter(ms) : undefined;
}

export const boundedRetryAfter = (ms: number): number => Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);

/** Creates the client; nothing is requested. */
export function createCloudClient({ account, fetch, headers, clock }: CloudClientDeps): CloudClient {
  let session: Session | undefined;
  let opening: { slotKey: string; base: string; session: Promise<Session> } | undefined;

  async function send(
    url: string,
    bearer: string,
    request: { method: string; json?: unknown; signal?: AbortSignal | undefined; timeoutMs?: number },
  ): Promise<CloudReply> {
    const { method, json, signal, timeoutMs = TIMEOUT_MS } = request;
    account.noteUse(url);
    const limit = new AbortController();
    const stop = clock.setTimeout(() => limit.abort(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    try {
      const response = await fetch(url, {
        method,
        headers: {
          ...headers(),
          accept: 'application/json',
          authorization: `Bearer ${bearer}`,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        signal: signal ? AbortSignal.any([limit.signal, signal]) : limit.signal,
      });
      const body = Buffer.from(await readBounded(response, MAX_BYTES)).toString('utf8');
      const retryAfterMs = retryAfterOf(response.headers.get('retry-after'), clock.now());
      return { status: response.status, body, retryAfterMs };
    } catch (error) {
      signal?.throwIfAborted();
      const cause: unknown = limit.signal.aborted ? limit.signal.reason : error;
      throw new CloudRequestError(`The relay could not be reached: ${reasonOf(cause)}`, { cause });
    } finally {
      stop();
    }
  }

  async function current(): Promise<{ slot: Slot; base: string }> {
    const login = await account.managedLogin();
    if (!login) throw loginMissing();
    const { remoteBase } = await account.addresses();
    if (isPlaceholder(remoteBase)) throw new ServiceError('internal.error', 'No relay is configured');
    return { slot: login.slot, base: `${remoteBase}/v1/remote` };
  }

  async function open(slot: Slot, base: string): Promise<Session> {
    const tokens: string[] = [];
    const request = (token: string) => {
      tokens.push(token);
      return send(`${base}/session`, token, { method: 'POST' });
    };
    const reply = await account.tokens.withAccessToken(slot, request).catch((error: unknown) => {
      throw asLoginError(error);
    });
    if (reply.status === 401) throw loginRefused();
    const parsed = isSuccess(reply) ? sessionSchema.safeParse(tryParseJson(reply.body)) : undefined;
    if (!parsed?.success) throw errorOf(reply, tokens);
    const { session_token: token, expires_in } = parsed.data;
    return { slotKey: slot.key, base, token, expiresAt: clock.now() + expires_in * 1000 };
  }

  /** The session of this login and relay; concurrent callers share the request for a new one. */
  async function sessionFor(slot: Slot, base: string): Promise<Session> {
    const isFor = (one: { slotKey: string; base: string }) => one.slotKey === slot.key && one.base === base;
    if (session && !isFor(session)) session = undefined;
    if (session && session.expiresAt - clock.now() > RENEW_BEFORE_MS) return session;
    if (!opening || !isFor(opening)) {
      const mine = { slotKey: slot.key, base, session: open(slot, base) };
      opening = mine;
      const forget = () => {
        if (opening === mine) opening = undefined;
      };
      mine.session.then((opened) => {
        // A logout during the request has forgotten it.
        if (opening === mine) session = opened;
        forget();
      }, forget);
    }
    return opening.session;
  }

  function drop(): void {
    session = undefined;
    opening = undefined;
  }

  return {
    async request(method, path, { json, signal } = {}) {
      const { slot, base } = await current();
      const attempt = async () => {
        const { token } = await sessionFor(slot, base);
        signal?.throwIfAborted();
        return { token, reply: await send(`${base}${path}`, token, { method, json, signal }) };
      };
      let { token, reply } = await attempt();
      if (reply.status === 401) {
        if (session?.token === token) session = undefined;
        ({ token, reply } = await attempt());
      }
      if (reply.status === 401) throw loginRefused();
      if (!isSuccess(reply)) throw errorOf(reply, [token]);
      return reply;
    },
    async checkLogin() {
      const { slot } = await current();
      const readiness = await account.tokens.readiness(slot);
      if (readiness === 'missing') throw loginMissing();
      if (readiness === 'refused') throw loginRefused();
      return slot;
    },
    drop,
    capture() {
      const captured = session && { base: session.base, token: session.token };
      drop();
      return captured;
    },
    async finish({ base, token }, method, path) {
      await send(`${base}${path}`, token, { method, timeoutMs: BEST_EFFORT_MS }).catch(() => undefined);
    },
  };
}

const isSuccess = ({ status }: CloudReply): boolean => status >= 200 && status < 300;

/** `secrets` are those of the request, which the relay may quote. */
function errorOf({ status, body, retryAfterMs }: CloudReply, secrets: readonly string[]): CloudRequestError {
  if (isSuccess({ status, body, retryAfterMs })) return new CloudRequestError('The relay sent an invalid reply');
  const code = asRecord(asRecord(tryParseJson(body))?.error)?.code;
  return new CloudRequestError(cloudErrorMessage(body, status, secrets), {
    status,
    ...(typeof code === 'string' && { code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** The access token could not be obtained. */
function asLoginError(error: unknown): unknown {
  if (!(error instanceof AccessTokenError)) return error;
  if (error.reason === 'missing') return loginMissing();
  if (error.reason === 'refused') return loginRefused(error);
  return new CloudRequestError(error.message, { cause: error });
}

/** undici reports a failed connection as the cause of another error. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return errorMessage(cause instanceof Error && cause.message !== '' ? cause : error);
}
