/** What a call to the server can fail with; anything else that is thrown is a bug. */

/** The server answered with a coded failure. */
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

/** No answer came: the server is away, or what answered is not this server. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

export const isUnauthorized = (error: unknown): boolean => error instanceof ApiError && error.code === 40101;

/** The readable reason of anything that was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
