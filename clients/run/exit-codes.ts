/** The reasons of an end, their exit codes, and the errors that cause them. */
import { ApiError, ConnectionError } from '@service-code/client';

const EXIT_CODES = {
  completed: 0,
  failed: 1,
  blocked: 1,
  /** By another client. */
  cancelled: 1,
  bad_use: 2,
  unreachable: 4,
  timeout: 124,
  interrupted: 130,
} as const;

export const INTERRUPTED = EXIT_CODES.interrupted;
export const BAD_USE = EXIT_CODES.bad_use;
const DENIED = 3;

export type EndReason = keyof typeof EXIT_CODES;

/** A failure that ends the run before or without a turn. */
export class RunError extends Error {
  override readonly name = 'RunError';
  readonly reason: EndReason;

  constructor(reason: EndReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** `token.invalid`, a ban, and a host or an origin that the server refuses. */
const REFUSED = [40101, 42901, 40301];
/** The session is in use. */
const IN_USE = [40901, 40903, 40927];
/** Codes from here on are failures of the server. */
const FIRST_INTERNAL = 50_000;

/** Why a run ends that threw the error before its turn. */
export function reasonOfError(error: unknown): EndReason {
  if (error instanceof RunError) return error.reason;
  if (error instanceof ConnectionError) return 'unreachable';
  if (!(error instanceof ApiError)) return 'failed';
  if (REFUSED.includes(error.code)) return 'unreachable';
  return error.code >= FIRST_INTERNAL || IN_USE.includes(error.code) ? 'failed' : 'bad_use';
}

export function exitCodeOf(reason: EndReason, hasDenied: boolean): number {
  return reason === 'completed' && hasDenied ? DENIED : EXIT_CODES[reason];
}
