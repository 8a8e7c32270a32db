/**
 * The error type of all expected failures, thrown where the failure is detected. Only the endpoints and the WebSocket
 * convert it, into an envelope or an ack.
 */
import type { ErrorData, ErrorName } from './catalogue.ts';
import { codeOf } from './catalogue.ts';

export interface ErrorDetail {
  /** Path of the offending field, joined with dots; empty for the root value. */
  path: string;
  message: string;
}

export interface ServiceErrorOptions {
  /** `data` of the envelope, for errors whose catalogue entry has a schema for it. */
  data?: ErrorData;
  /** `details` of the envelope: one entry per field of a failed validation, an object for some others. */
  details?: ErrorDetail[] | Record<string, unknown>;
  cause?: unknown;
}

export class ServiceError extends Error {
  override readonly name: ErrorName;
  readonly data: ErrorData | null;
  readonly details: ServiceErrorOptions['details'];

  constructor(name: ErrorName, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = name;
    this.data = options.data ?? null;
    this.details = options.details;
  }

  /** The error's number on the wire. */
  get code(): number {
    return codeOf(this.name);
  }
}

/** Creates `validation.failed`; `msg` is built from the first detail. */
export function invalid(details: ErrorDetail[]): ServiceError {
  const [first] = details;
  const message = !first ? 'Invalid input' : first.path ? `${first.path}: ${first.message}` : first.message;
  return new ServiceError('validation.failed', message, { details });
}

/** Creates `validation.failed` for one field. */
export function invalidField(path: string, message: string): ServiceError {
  return invalid([{ path, message }]);
}

export const sessionNotFound = (id: string) => new ServiceError('session.not_found', `session ${id} does not exist`);

/** Returns a readable message for any thrown value. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
