/**
 * The one error type of the program. It carries the number that goes on the wire; `utils/endpoint.ts` and the WebSocket
 * turn it into an envelope or an ack, nobody else does (core.md §1.1, §2).
 */

export interface ErrorDetail {
  /** Path of the offending field, joined with dots; empty for the root value. */
  path: string;
  message: string;
}

export interface ServiceErrorOptions {
  /** `data` of the envelope; null unless core.md §1.1 says otherwise. */
  data?: unknown;
  /** `details` of the envelope: one entry per field for 40001, an object for 40111, 40904 and the like. */
  details?: ErrorDetail[] | Record<string, unknown>;
  /** HTTP status when it is not 200 (core.md §1.7). */
  status?: number;
  cause?: unknown;
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: number;
  readonly data: unknown;
  readonly details: ServiceErrorOptions['details'];
  readonly status: number;

  constructor(code: number, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.data = options.data ?? null;
    this.details = options.details;
    this.status = options.status ?? 200;
  }
}

/** 40001 with details; `msg` is the first detail's, as core.md §1.4 has it. */
export function invalid(details: ErrorDetail[]): ServiceError {
  const [first] = details;
  const message = !first ? 'Invalid input' : first.path ? `${first.path}: ${first.message}` : first.message;
  return new ServiceError(40001, message, { details });
}

/** 40001 naming one field. */
export function invalidField(path: string, message: string): ServiceError {
  return invalid([{ path, message }]);
}

export const sessionNotFound = (id: string) => new ServiceError(40401, `session ${id} does not exist`);

/** The readable reason of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
