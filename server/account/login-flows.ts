/** Logins in progress: one per provider, in memory only. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { abortable } from '#server/async/abortable.ts';
import { createKeyedQueue } from '#server/async/keyed-queue.ts';
import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import { own } from '#server/config/effective.ts';
import { errorMessage, invalidField, ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { CancelledLogin, FlowStatus, LoginFlow, StartedLogin } from '#schema/rest/oauth.ts';
import { iso } from '#schema/scalars.ts';
import type { Account } from './account.ts';
import type { LoginAddresses } from './addresses.ts';
import { MANAGED_PROVIDER, type Slot } from './credential-slots.ts';
import { LoginFailure, pollForToken } from './device-grant.ts';
import type { LoginRecords } from './login-records.ts';
import { OAuthError, type DeviceCode, type TokenReply } from './oauth-client.ts';
import type { Region } from './regions.ts';
import { AccessTokenError } from './tokens.ts';

/** A stored token is renewed within this time, or the start of the login fails. */
const STORED_TOKEN_MS = 30_000;
/** Limits the end of a code, because a date has one. */
const MAX_LIFE_S = 10 * 365 * 24 * 3600;

export interface LoginFlows {
  /**
   * Starts a login and ends a pending one of the provider. Returns when the code is known, or when a stored token made
   * one needless. Throws `validation.failed` for a provider without a login, and `internal.error`.
   */
  start(provider: string, options?: { region?: Region | undefined; by?: Caller | undefined }): Promise<StartedLogin>;
  /** Returns the last login; null if there is none, or if it had no code. */
  read(provider: string): LoginFlow | null;
  /** Cancels a pending login. */
  cancel(provider: string): CancelledLogin;
  /** Runs work while no login of the provider stores its token or record. */
  exclusively<T>(provider: string, work: () => Promise<T>): Promise<T>;
  /** Cancels all pending logins. */
  close(): void;
}

export interface LoginFlowsDeps {
  account: Pick<Account, 'loginAddresses' | 'slotOf' | 'tokens' | 'oauth'>;
  config: Pick<Config, 'stored' | 'onSeen'>;
  records: Pick<LoginRecords, 'write'>;
  /** Updates the models of the managed provider. */
  refreshManaged: (by: Caller | undefined) => Promise<unknown>;
  clock: Clock;
  log: Logger;
}

interface Flow {
  readonly id: string;
  readonly provider: string;
  readonly startedAt: number;
  status: FlowStatus;
  /** Ends the requests of the flow. */
  readonly ended: AbortController;
  code?: IssuedCode;
  resolvedAt?: string;
  errorMessage?: string;
}

interface IssuedCode {
  verification_uri: string;
  verification_uri_complete: string;
  user_code: string;
  expires_in: number;
  interval: number;
  expires_at: string;
}

/** The destination of a login; `managed` is set for the provider whose record the login writes. */
interface Destination {
  slot: Slot;
  managed?: LoginAddresses;
}

/** Creates the service; subscribes to changes of the configuration. */
export function createLoginFlows(deps: LoginFlowsDeps): LoginFlows {
  const { account, config, records, refreshManaged, clock, log } = deps;
  const flows = new Map<string, Flow>();
  /** Serializes the writes of logins and logouts of one provider. */
  const writes = createKeyedQueue();
  const origin = Symbol('login');

  /** Ends a pending flow; does nothing for others. */
  function end(flow: Flow, status: Exclude<FlowStatus, 'pending'>, message?: string): void {
    if (flow.status !== 'pending') return;
    flow.status = status;
    flow.resolvedAt = iso(clock.now());
    if (message !== undefined) flow.errorMessage = message;
    flow.ended.abort(new Error(message ?? `The login was ${status}.`));
  }

  const unsubscribe = config.onSeen((change) => {
    if (change.origin === origin) return;
    for (const flow of flows.values()) {
      const { provider } = flow;
      if (isDeepStrictEqual(own(change.before.providers, provider), own(change.after.providers, provider))) continue;
      end(flow, 'cancelled', 'Provider configuration changed during login.');
    }
  });

  function begin(provider: string): Flow {
    const replaced = flows.get(provider);
    if (replaced) end(replaced, 'cancelled', 'The login was replaced by another one.');
    const flow: Flow = {
      id: `oauth_${randomUUID()}`,
      provider,
      startedAt: clock.now(),
      status: 'pending',
      ended: new AbortController(),
    };
    flows.set(provider, flow);
    return flow;
  }

  async function destinationOf(provider: string, region: Region | undefined): Promise<Destination> {
    if (provider === MANAGED_PROVIDER) {
      const managed = await account.loginAddresses(region);
      return { slot: { key: managed.reference.key, oauthHost: managed.oauthHost }, managed };
    }
    const reference = own(config.stored().providers, provider)?.oauth;
    if (!reference) throw withoutLogin(provider);
    return { slot: await account.slotOf(reference) };
  }

  /** Whether the slot has a token that is accepted. Throws for a renewal that failed without being refused. */
  async function hasToken(slot: Slot, signal: AbortSignal): Promise<boolean> {
    const limit = new AbortController();
    const timedOut = new Error(`The stored login could not be renewed within ${STORED_TOKEN_MS / 1000} s`);
    const stop = clock.setTimeout(() => limit.abort(timedOut), STORED_TOKEN_MS);
    try {
      await account.tokens.get(slot, { signal: AbortSignal.any([signal, limit.signal]) });
      return true;
    } catch (error) {
      if (error instanceof AccessTokenError && error.reason !== 'failed') return false;
      throw error;
    } finally {
      stop();
    }
  }

  /** Stores the token if there is a new one, and the provider's record; then the login has succeeded. */
  async function complete(flow: Flow, { slot, managed }: Destination, by: Caller | undefined, token?: TokenReply) {
    const { signal } = flow.ended;
    await writes.run(flow.provider, async () => {
      signal.throwIfAborted();
      if (token) await account.tokens.save(slot.key, token);
      if (token && signal.aborted) await account.tokens.remove(slot.key);
      signal.throwIfAborted();
      if (managed) await logged('its record was not written', records.write(managed, { by, origin }));
    });
    // The refresh continues after an abort, but the flow does not wait for it.
    if (managed) await abortable(logged('its models were not refreshed', refreshManaged(by)), signal);
    end(flow, 'authenticated');
  }

  /** Failures after the token has been obtained do not fail the login. */
  const logged = (what: string, work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => log.warn(`a login succeeded, but ${what}: ${errorMessage(error)}`));

  async function poll(flow: Flow, to: Destination, code: DeviceCode, by: Caller | undefined): Promise<void> {
    const { oauthHost } = to.slot;
    const token = await pollForToken({
      code,
      startedAt: flow.startedAt,
      requestCode: (signal) => account.oauth.requestDeviceCode(oauthHost, signal),
      requestToken: (deviceCode, signal) => account.oauth.pollToken(oauthHost, deviceCode, signal),
      onNewCode: (renewed) => void (flow.code = issuedCode(renewed, clock.now())),
      clock,
      signal: flow.ended.signal,
    });
    await complete(flow, to, by, token);
  }

  function failed(flow: Flow, error: unknown): void {
    // An aborted flow has its final status.
    if (flow.status !== 'pending') return;
    const status = error instanceof LoginFailure ? error.status : 'denied';
    log.info(`a login has failed: ${errorMessage(error)}`, { status });
    end(flow, status, errorMessage(error));
  }

  return {
    async start(provider, { region, by } = {}) {
      if (provider !== MANAGED_PROVIDER && !own(config.stored().providers, provider)?.oauth) {
        throw withoutLogin(provider);
      }
      const flow = begin(provider);
      const { signal } = flow.ended;
      const started = { flow_id: flow.id, provider };
      try {
        // A login that this one replaces may be storing its token.
        await writes.run(provider, () => Promise.resolve());
        const to = await destinationOf(provider, region);
        if (await hasToken(to.slot, signal)) {
          await complete(flow, to, by);
          return { ...started, status: 'authenticated' };
        }
        const code = await account.oauth.requestDeviceCode(to.slot.oauthHost, signal);
        signal.throwIfAborted();
        flow.code = issuedCode(code, clock.now());
        const issued = flow.code;
        poll(flow, to, code, by).catch((error: unknown) => failed(flow, error));
        return { ...started, status: 'pending', ...issued };
      } catch (thrown) {
        const error: unknown = signal.aborted ? signal.reason : thrown;
        failed(flow, error);
        throw startFailure(error);
      }
    },
    read(provider) {
      const flow = flows.get(provider);
      if (!flow?.code) return null;
      const { id, status, code, resolvedAt, errorMessage: message } = flow;
      return {
        flow_id: id,
        provider,
        status,
        ...code,
        ...(resolvedAt !== undefined && { resolved_at: resolvedAt }),
        ...(message !== undefined && { error_message: message }),
      };
    },
    cancel(provider) {
      const flow = flows.get(provider);
      const cancelled = flow?.status === 'pending';
      if (flow) end(flow, 'cancelled');
      return { cancelled, status: flow?.status ?? 'cancelled' };
    },
    exclusively: writes.run,
    close() {
      unsubscribe();
      for (const flow of flows.values()) end(flow, 'cancelled');
    },
  };
}

const withoutLogin = (provider: string) => invalidField('provider', `provider ${provider} has no OAuth login`);

/** Code and addresses as clients receive them. Throws `LoginFailure` for an address that no browser may open. */
function issuedCode(code: DeviceCode, nowMs: number): IssuedCode {
  const { user_code, verification_uri_complete: complete, expires_in, interval } = code;
  if (!isWebAddress(complete)) throw new LoginFailure('denied', 'The login service sent an invalid address.');
  const lifeMs = Math.min(expires_in, MAX_LIFE_S) * 1000;
  return {
    verification_uri: isWebAddress(code.verification_uri) ? code.verification_uri : complete,
    verification_uri_complete: complete,
    user_code,
    expires_in,
    interval,
    expires_at: iso(nowMs + lifeMs),
  };
}

const isWebAddress = (text: string): boolean =>
  URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);

function startFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.name === 'validation.failed') return error;
  const message =
    error instanceof OAuthError
      ? `Device authorization failed${error.status === undefined ? '' : ` (HTTP ${error.status})`}: ${error.message}`
      : errorMessage(error);
  return new ServiceError('internal.error', message, { cause: error });
}
