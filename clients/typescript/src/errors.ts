/** Expected failures of a call to the server; any other thrown error is a bug. */

interface Facts {
  /** HTTP status of the reply; 200 for most codes. */
  status: number;
  details?: unknown;
  data?: unknown;
  requestId?: string | undefined;
}

/** The server replied with an error code. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly status: number;
  readonly details: unknown;
  readonly data: unknown;
  /** Identifies the request in the server's log; undefined for frames of the socket. */
  readonly requestId: string | undefined;

  constructor(code: number, msg: string, { status, details, data, requestId }: Facts) {
    super(msg);
    this.code = code;
    this.status = status;
    this.details = details;
    this.data = data;
    this.requestId = requestId;
  }

  /** The server's text, which is the message of the error too. */
  get msg(): string {
    return this.message;
  }
}

/** There was no reply: the server cannot be reached, or another program replied. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError';
}

/** The relay between the page and the server replied instead of the server. */
export class RelayError extends ConnectionError {
  override readonly name = 'RelayError';
  /** The relay's own code, such as `login_required`. */
  readonly code: string;

  constructor(code: string) {
    super(RELAY_TEXTS[code] ?? `The relay refused the request (${code}).`);
    this.code = code;
  }
}

const RELAY_TEXTS: Partial<Record<string, string>> = {
  login_required: 'You are signed out of the relay. Reload this page to sign in again.',
  device_offline: 'The relay has no connection to the server.',
  device_not_found: 'The relay does not have this device any more.',
};

export const isUnauthorized = (error: unknown): boolean => error instanceof ApiError && error.code === 40101;

/** The readable reason of any thrown value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
