/** The device grant: polls for a token while a user confirms a code at the cloud, and replaces codes that expired. */
import type { Clock } from '#server/clock.ts';
import { OAuthError, type DeviceCode, type TokenReply } from './oauth-client.ts';

/** The whole login, however long its codes live. */
export const LOGIN_BUDGET_MS = 15 * 60_000;
const SLOW_DOWN_S = 5;
const MAX_BACKOFF_S = 60;
/** Polls in a row without a usable reply that end the login. */
const MAX_FAILURES = 5;
const SERVER_ERROR = 500;

/** A login that the cloud or the time limit ended. The message is for people. */
export class LoginFailure extends Error {
  override readonly name = 'LoginFailure';
  readonly status: 'denied' | 'expired';

  constructor(status: LoginFailure['status'], message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

export interface DeviceGrant {
  /** The code to begin with. */
  code: DeviceCode;
  /** Start of the login, in ms. */
  startedAt: number;
  /** Throws `OAuthError`. */
  requestCode(signal: AbortSignal): Promise<DeviceCode>;
  /** One poll. Throws `OAuthError`. */
  requestToken(deviceCode: string, signal: AbortSignal): Promise<TokenReply>;
  /** Called with each code that replaces an expired one; may throw `LoginFailure`. */
  onNewCode(code: DeviceCode): void;
  clock: Clock;
  /** Ends the login: the running request is aborted. */
  signal: AbortSignal;
}

/** Polls until there is a token. Throws `LoginFailure`, the reason of `signal`, and errors of `onNewCode`. */
export async function pollForToken(grant: DeviceGrant): Promise<TokenReply> {
  const { startedAt, requestCode, requestToken, onNewCode, clock, signal } = grant;
  const budget = new AbortController();
  const expired = new LoginFailure('expired', 'The login was not confirmed in time.');
  const stop = clock.setTimeout(() => budget.abort(expired), Math.max(0, startedAt + LOGIN_BUDGET_MS - clock.now()));
  const ended = AbortSignal.any([signal, budget.signal]);

  let { code } = grant;
  let intervalS = code.interval;
  let failures = 0;
  /** Undefined after the present code has expired. */
  let deviceCode: string | undefined = code.device_code;
  let polls = 0;
  try {
    for (;;) {
      ended.throwIfAborted();
      let waitS: number;
      try {
        if (deviceCode === undefined) {
          code = await requestCode(ended);
          ended.throwIfAborted();
          onNewCode(code);
          deviceCode = code.device_code;
          intervalS = code.interval;
          polls = 0;
          failures = 0;
        }
        polls += 1;
        return await requestToken(deviceCode, ended);
      } catch (error) {
        ended.throwIfAborted();
        if (!(error instanceof OAuthError)) throw error;
        if (isUnusable(error)) {
          failures += 1;
          if (failures >= MAX_FAILURES) throw new LoginFailure('denied', `Login failed: ${error.message}`, error);
          waitS = Math.max(intervalS, Math.min(MAX_BACKOFF_S, intervalS * 2 ** failures));
        } else {
          failures = 0;
          if (deviceCode === undefined || !isAnswer(error)) throw denied(error);
          if (error.code === 'slow_down') intervalS += SLOW_DOWN_S;
          if (error.code === 'expired_token') {
            deviceCode = undefined;
            // A cloud whose new codes expire immediately must not cause an endless series of requests.
            if (polls > 1) continue;
          }
          waitS = intervalS;
        }
      }
      await wait(waitS * 1000, clock, ended);
    }
  } finally {
    stop();
  }
}

/** Whether the reply is none of the protocol: the request may succeed later. */
const isUnusable = ({ status }: OAuthError): boolean => status === undefined || status >= SERVER_ERROR;

/** Whether the poll continues after the reply. */
const isAnswer = ({ code }: OAuthError): boolean =>
  code === 'authorization_pending' || code === 'slow_down' || code === 'expired_token';

const denied = (error: OAuthError): LoginFailure =>
  new LoginFailure('denied', `Authorization denied: ${error.message}`, error);

function wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
