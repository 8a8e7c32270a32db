/** Expected failures of a call to the server; any other thrown error is a bug. */

/** The server replied with an error code. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly status: number;
  readonly details: unknown;
  readonly data: unknown;

  constructor(code: number, message: string, facts: { status: number; details?: unknown; data?: unknown }) {
    super(message);
    this.code = code;
    this.status = facts.status;
    this.details = facts.details;
    this.data = facts.data;
  }
}

/** There was no reply: the server cannot be reached, or another program replied. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

export const isUnauthorized = (error: unknown): boolean => error instanceof ApiError && error.code === 40101;

/** The readable reason of any thrown value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
