/** The reaction to the end of a tunnel and to failed requests: by the close code, GOAWAY and the kind of the failure. */
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import { closeCode } from '#server/net/streams/frames.ts';
import { boundedRetryAfter, CloudRequestError } from './cloud-client.ts';
import type { TunnelEnd } from './tunnel.ts';

const BACKOFF_MS = { first: 1000, most: 60_000, least: 250 };
/** A tunnel that was connected for this long resets the backoff. */
const STABLE_MS = 60_000;
/** Upper bound of the random wait after a relay that drains. */
const DRAINING_MS = 5000;
const PROTOCOL_ERRORS = { count: 3, withinMs: 5 * 60_000 };
/** The reason of a GOAWAY of the device's owner at the relay. */
const USER_REQUESTED = 'user_requested';
const RELAY_RESTARTS = 'server_shutting_down';

export type Reaction =
  | { kind: 'retry'; waitMs: number; error: string; dropSession?: boolean }
  /** Without `error`: the user has stopped it. `unregistered`: the relay does not list the device as active any more. */
  | { kind: 'off'; error?: string; cause?: unknown; unregistered?: boolean };

const off = (error?: string, cause?: unknown): Reaction => ({
  kind: 'off',
  ...(error !== undefined && { error }),
  ...(cause !== undefined && { cause }),
});

export interface Reconnect {
  afterEnd(end: TunnelEnd): Reaction;
  /** After a failed request before a tunnel. */
  afterFailure(error: unknown): Reaction;
}

/** The rules of one run of remote control, which count failures. `now` is in ms; `random` from 0 to 1. */
export function createReconnect(now: () => number, random: () => number = Math.random): Reconnect {
  let failures = 0;
  let refusedTickets = 0;
  let protocolErrors: number[] = [];

  function backoff(atLeastMs = 0): number {
    const limit = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** failures);
    failures += 1;
    return Math.max(BACKOFF_MS.least, random() * limit, atLeastMs);
  }

  const retry = (error: string, waitMs: number): Reaction => ({ kind: 'retry', error, waitMs });

  function afterProtocolError(error: string, atLeastMs: number): Reaction {
    protocolErrors = [...protocolErrors.filter((at) => now() - at < PROTOCOL_ERRORS.withinMs), now()];
    return protocolErrors.length < PROTOCOL_ERRORS.count ? retry(error, backoff(atLeastMs)) : off(error);
  }

  return {
    afterEnd({ code, reason, goAway, slept, connectedMs }) {
      if (connectedMs >= STABLE_MS) failures = 0;
      if (connectedMs > 0) refusedTickets = 0;
      const atLeastMs = boundedRetryAfter(goAway?.retry_after_ms ?? 0);
      const because = (text: string) => `${text}: ${goAway?.message || reason || `close code ${code}`}`;
      switch (code) {
        case closeCode.ticketRefused:
          refusedTickets += 1;
          if (refusedTickets > 1) return off(because('The relay refused the connection'));
          return { ...retry(because('The relay refused the connection'), backoff(atLeastMs)), dropSession: true };
        case closeCode.replaced:
          return off('Another server connected with the same device id; two copies of a home cannot both be reached');
        case closeCode.deactivated:
        case closeCode.deleted:
          return { kind: 'off', unregistered: true };
        case closeCode.quota:
          return off(because('The account has too many devices'));
        case closeCode.grantRevoked:
          return off(because('The login was revoked'));
        case closeCode.draining:
          return retry(because('The relay is busy'), Math.max(BACKOFF_MS.least, random() * DRAINING_MS, atLeastMs));
        case closeCode.protocol:
          return afterProtocolError(because('The relay and this server do not understand each other'), atLeastMs);
      }
      if (goAway?.reason === USER_REQUESTED) return off();
      if (goAway?.reason === RELAY_RESTARTS) {
        return retry(because('The relay restarts'), Math.max(BACKOFF_MS.least, atLeastMs));
      }
      // The relay closed the tunnel as if this end had requested it.
      if (!goAway && (code === 1000 || code === closeCode.stopped)) return off();
      const error = because('The connection to the relay was lost');
      return retry(error, slept ? BACKOFF_MS.least : backoff(atLeastMs));
    },
    afterFailure(error) {
      const text = errorMessage(error);
      if (error instanceof CloudRequestError && error.transient) return retry(text, backoff(error.retryAfterMs));
      if (error instanceof ServiceError || error instanceof CloudRequestError) return off(text, error);
      return retry(text, backoff());
    },
  };
}
