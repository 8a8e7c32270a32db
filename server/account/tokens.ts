/**
 * Access tokens of logins: read from the token files, renewed at half of their life, one renewal at a time in the home.
 * Nothing is cached: the servers of a home share the files. Only a renewed token that could not be written is kept in
 * memory.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { abortable } from '#server/async/abortable.ts';
import { waitAtMost } from '#server/async/wait-at-most.ts';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { createRenewals, type Renewal } from '#server/storage/renewals.ts';
import { slotName, type Slot } from './credential-slots.ts';
import { OAuthError, type OAuthClient, type TokenReply } from './oauth-client.ts';
import { createTokenChanges, type TokenWriter } from './token-changes.ts';
import { isTombstone, readToken, storedTokenOf, tombstoneOf, type StoredToken } from './token-files.ts';

/** Lower limit of the time between a renewal and the end of the token, in seconds. */
const MIN_THRESHOLD_S = 300;
/** Pauses between the attempts of a renewal. */
const PAUSES_MS = [1000, 2000];
/** All attempts of a renewal. */
const ATTEMPTS_MS = 45_000;
/** Another server may be about to write the token that it got for the same refresh token. */
const LOST_RACE_MS = 100;
/** Time without ordinary renewals after a failed one. */
const RETRY_AFTER_MS = 30_000;
const READINESS_MS = 10_000;
/** Wait of a stop for the replies to renewals. */
const CLOSE_MS = 2000;

const TRANSIENT = new Set([429, 500, 502, 503, 504]);

/**
 * No access token could be obtained. `missing`: there is no login. `refused`: the login has ended, because its grant
 * was refused. `failed`: the renewal failed, for example because the OAuth host cannot be reached.
 */
export class AccessTokenError extends Error {
  override readonly name = 'AccessTokenError';
  readonly reason: 'missing' | 'refused' | 'failed';
  /** Whether a later attempt may succeed without a new login. */
  readonly transient: boolean;

  constructor(
    reason: AccessTokenError['reason'],
    message: string,
    options: { cause?: unknown; transient?: boolean } = {},
  ) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.transient = options.transient ?? false;
  }
}

/** `revoked` is a tombstone: the grant was refused. */
export type SlotState =
  | { state: 'missing' }
  | { state: 'revoked' }
  | { state: 'valid'; refreshable: boolean; /** Unix seconds, 0 = unknown. */ expiresAt: number };

export interface TokenRequest {
  /** Renews the token although it is not due. */
  force?: boolean;
  /** The access token that was refused: a forced renewal is not needed if another one is stored by now. */
  refused?: string;
  /** Ends the wait of this caller; the renewal continues for others. */
  signal?: AbortSignal;
}

export interface ReplayOptions<Reply> {
  signal?: AbortSignal;
  /** Called with the refused reply before the request is sent again, to release its connection. */
  discard?(reply: Reply): unknown;
}

export interface AccessTokens {
  /**
   * Returns an access token, renewed if it is due. A failed ordinary renewal returns the present token until its end.
   * Throws `AccessTokenError`, and the reason of the signal.
   */
  get(slot: Slot, request?: TokenRequest): Promise<string>;
  /**
   * Runs a request with an access token. A reply with status 401 forces one renewal and exactly one replay; the reply
   * to the replay is returned, another 401 included. Throws `AccessTokenError`, the signal's reason and errors of `send`.
   */
  withAccessToken<Reply extends { readonly status: number }>(
    slot: Slot,
    send: (accessToken: string) => Promise<Reply>,
    options?: ReplayOptions<Reply>,
  ): Promise<Reply>;
  /** Whether requests with this login can succeed; waits at most 10 s. An OAuth host that fails is no obstacle here. */
  readiness(slot: Slot): Promise<'ready' | 'missing' | 'refused'>;
  /** Reads the token file of a key only; an unreadable file and a key without a file are treated as missing. */
  state(key: string): Promise<SlotState>;
  /** Stores the reply of a login; cancels a running renewal. Throws `persistence.failure`, and for an invalid key. */
  save(key: string, reply: TokenReply): Promise<void>;
  /**
   * Removes the token file and returns its content, undefined without a valid token; cancels a running renewal. A
   * renewal of another server leaves no file either. Throws `persistence.failure`.
   */
  remove(key: string): Promise<StoredToken | undefined>;
  /** Stops renewals; waits for replies that may be on their way and for writes, since the old refresh token is spent. */
  close(): Promise<void>;
}

export interface AccessTokensDeps {
  home: string;
  documents: Documents;
  holder: LeaseHolder;
  oauth: Pick<OAuthClient, 'refresh'>;
  env: () => NodeJS.ProcessEnv;
  clock: Clock;
  log: Logger;
}

/** Creates the service; nothing is read or requested before its first use. */
export function createAccessTokens(deps: AccessTokensDeps): AccessTokens {
  const { home, documents, holder, oauth, env, clock, log } = deps;
  const closing = new AbortController();
  const ended = new AbortController();
  /** The last failure of an ordinary renewal, by name. */
  const failures = new Map<string, { until: number; error: AccessTokenError }>();
  /** Failures that callers of one renewal share. */
  const logged = new WeakSet<object>();
  const seconds = () => clock.now() / 1000;

  const missing = () => new AccessTokenError('missing', 'Nobody is logged in; log in first');
  const refusedGrant = (cause?: unknown) =>
    new AccessTokenError('refused', 'The login has ended; log in again', { cause });
  const failed = (cause: unknown, transient = true) =>
    new AccessTokenError('failed', `The login could not be renewed: ${errorMessage(cause)}`, { cause, transient });

  const { change, remove } = createTokenChanges({ home, documents, holder, env });
  const renewals = createRenewals<StoredToken, TokenWriter, string>({
    read: (name) => readToken(documents, name),
    write: (writer, _name, token) => writer.write(token),
    change,
    onUnsaved: (slot, error) =>
      log.warn(`a renewed login could not be written, and will be written again: ${errorMessage(error)}`, { slot }),
  });
  const { read } = renewals;

  /** A token of unknown life is renewed by force only. */
  function isDue({ expires_at, expires_in }: StoredToken): boolean {
    if (expires_at === 0) return false;
    return expires_at - seconds() < Math.max(MIN_THRESHOLD_S, expires_in * 0.5);
  }

  /** Throws the reason of the signal. */
  function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = clock.setTimeout(resolve, ms);
      const onAbort = () => {
        stop();
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }

  /** Several attempts at the OAuth host. Throws the last error, and the reason of an abort. */
  async function requestToken(host: string, refreshToken: string, signal: AbortSignal): Promise<TokenReply> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await oauth.refresh(host, refreshToken, signal);
      } catch (error) {
        signal.throwIfAborted();
        const pause = PAUSES_MS[attempt];
        if (pause === undefined || closing.signal.aborted || isRefusal(error) || !isTransient(error)) throw error;
        await pauseFor(pause, AbortSignal.any([signal, closing.signal]));
      }
    }
  }

  async function renewed(
    { name, host, seen, forced }: { name: string; host: string; seen: StoredToken; forced: boolean },
    { stored, writer, replace, cancelled }: Renewal<StoredToken, TokenWriter>,
  ): Promise<string> {
    if (!stored || cancelled.aborted) throw missing();
    if (isTombstone(stored)) throw refusedGrant();
    if (!forced && !isDue(stored)) return stored.access_token;
    // Another server has renewed it.
    if (forced && !isSame(stored, seen)) return stored.access_token;
    if (stored.refresh_token === '') throw refusedGrant();

    const limit = new AbortController();
    const stop = clock.setTimeout(
      () => limit.abort(new Error(`no answer within ${ATTEMPTS_MS / 1000} s`)),
      ATTEMPTS_MS,
    );
    let reply: TokenReply;
    try {
      const signal = AbortSignal.any([limit.signal, cancelled, ended.signal]);
      reply = await requestToken(host, stored.refresh_token, signal);
    } catch (error) {
      if (cancelled.aborted) throw missing();
      if (!isRefusal(error)) throw failed(error, isTransient(error));
      await delay(LOST_RACE_MS);
      const now = await read(name);
      if (!now || cancelled.aborted) throw missing();
      if (!isTombstone(now)) {
        if (now.refresh_token !== stored.refresh_token) return now.access_token;
        log.info('a login has ended: its grant was refused', { slot: name });
        await writer.write(tombstoneOf(stored));
      }
      throw refusedGrant(error);
    } finally {
      stop();
    }

    // A logout or another login during the request wins.
    const now = await read(name);
    if (!now || cancelled.aborted) throw missing();
    if (now.refresh_token !== stored.refresh_token) {
      if (isTombstone(now)) throw refusedGrant();
      return now.access_token;
    }
    await replace(storedTokenOf(reply, clock.now()));
    return reply.access_token;
  }

  /** Joins or starts a renewal; all errors are `AccessTokenError`. */
  async function renew(name: string, host: string, seen: StoredToken, forced: boolean): Promise<string> {
    try {
      const token = await renewals.run(name, (renewal) => renewed({ name, host, seen, forced }, renewal), { forced });
      failures.delete(name);
      return token;
    } catch (error) {
      const typed = error instanceof AccessTokenError ? error : failed(error);
      if (typed.reason === 'failed' && !ended.signal.aborted) {
        if (!forced) failures.set(name, { until: clock.now() + RETRY_AFTER_MS, error: typed });
        const shared = error instanceof Error ? error : typed;
        if (!logged.has(shared)) log.warn(`a login could not be renewed: ${errorMessage(typed.cause)}`, { slot: name });
        logged.add(shared);
      }
      throw typed;
    }
  }

  /** Reads the token of a name; all errors are `AccessTokenError`. */
  async function present(name: string | undefined): Promise<StoredToken> {
    const token =
      name === undefined ? undefined : await read(name).catch((error: unknown) => Promise.reject(failed(error)));
    if (!token) throw missing();
    if (isTombstone(token)) throw refusedGrant();
    return token;
  }

  async function get({ key, oauthHost }: Slot, { force = false, refused, signal }: TokenRequest = {}): Promise<string> {
    signal?.throwIfAborted();
    const name = slotName(key);
    const token = await present(name);
    if (name === undefined) throw missing();
    const forced = force && (refused === undefined || refused === token.access_token);
    if (!forced && !isDue(token)) return token.access_token;
    try {
      const failure = forced ? undefined : failures.get(name);
      if (failure && clock.now() < failure.until) throw failure.error;
      const work = renew(name, oauthHost, token, forced);
      return await (signal ? abortable(work, signal) : work);
    } catch (error) {
      if (forced || !(error instanceof AccessTokenError) || error.reason !== 'failed') throw error;
      const now = await present(name);
      if (seconds() >= now.expires_at) throw error;
      return now.access_token;
    }
  }

  return {
    get,
    async withAccessToken(slot, send, { signal, discard } = {}) {
      const request = signal ? { signal } : {};
      const token = await get(slot, request);
      const reply = await send(token);
      if (reply.status !== 401) return reply;
      await discard?.(reply);
      return send(await get(slot, { ...request, force: true, refused: token }));
    },
    async readiness(slot) {
      const limit = new AbortController();
      const stop = clock.setTimeout(() => limit.abort(), READINESS_MS);
      try {
        await get(slot, { signal: limit.signal });
        return 'ready';
      } catch (error) {
        return error instanceof AccessTokenError && error.reason !== 'failed' ? error.reason : 'ready';
      } finally {
        stop();
      }
    },
    async state(key) {
      const name = slotName(key);
      const token = name === undefined ? undefined : await read(name).catch(() => undefined);
      if (!token) return { state: 'missing' };
      if (isTombstone(token)) return { state: 'revoked' };
      return { state: 'valid', refreshable: token.refresh_token !== '', expiresAt: token.expires_at };
    },
    async save(key, reply) {
      const name = slotName(key);
      if (name === undefined) throw new Error('the key of the login names no token file');
      renewals.cancel(name);
      await change(name, (writer) => writer.write(storedTokenOf(reply, clock.now())));
      failures.delete(name);
    },
    async remove(key) {
      const name = slotName(key);
      if (name === undefined) return undefined;
      renewals.cancel(name);
      failures.delete(name);
      const token = await read(name).catch(() => undefined);
      await remove(name);
      renewals.forget(name);
      return token && !isTombstone(token) ? token : undefined;
    },
    async close() {
      const reason = new Error('the server is shutting down');
      closing.abort(reason);
      await waitAtMost(CLOSE_MS, renewals.settled().then(renewals.flush));
      ended.abort(reason);
      await renewals.settled();
    },
  };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof OAuthError && (error.status === 401 || error.status === 403 || error.code === 'invalid_grant');

/** Whether the request may succeed later: without a reply, or with a status of an overloaded or failing host. */
const isTransient = (error: unknown): boolean =>
  !(error instanceof OAuthError) || error.status === undefined || TRANSIENT.has(error.status);

const isSame = (one: StoredToken, other: StoredToken): boolean =>
  one.access_token === other.access_token &&
  one.refresh_token === other.refresh_token &&
  one.expires_at === other.expires_at &&
  one.expires_in === other.expires_in &&
  one.scope === other.scope &&
  one.token_type === other.token_type;
