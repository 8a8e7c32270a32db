/** Errors of a turn as clients receive them: a dotted code, and whether it is retryable. */
import type { ErrorName } from '#server/errors/catalogue.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import { ModelError } from '#server/models/types.ts';
import type { ErrorPayload } from '#schema/engine.ts';

const retryableCodes = new Set([
  'provider.rate_limit',
  'provider.connection_error',
  'provider.overloaded',
  'context.overflow',
  'storage.io_failed',
  'storage.locked',
]);

/** An error with one of the engine's dotted codes. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: string, message: string, details?: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The cause of a cancelled turn; the reason of its abort signal. */
export class TurnAborted extends Error {
  override readonly name = 'TurnAborted';
  /** `user`: a person interrupted it; `server`: an archive or a stop, with a message for clients. */
  readonly by: 'user' | 'server';

  constructor(by: 'user' | 'server', message: string) {
    super(message);
    this.by = by;
  }
}

/** Service errors with a code of their own when they end a turn; all others become `internal`. */
const serviceCodes: Partial<Record<ErrorName, string>> = {
  'auth.provisioning_required': 'auth.provisioning_required',
  'auth.token_missing': 'auth.token_missing',
  'auth.token_unauthorized': 'auth.token_unauthorized',
  'auth.model_not_resolved': 'auth.model_not_resolved',
  'session.busy': 'session.busy',
  'persistence.failure': 'storage.io_failed',
};

/** The payload of `turn.ended.error` and of the `error` event; unknown values become `internal`. */
export function errorPayload(error: unknown): ErrorPayload {
  if (error instanceof ModelError) {
    const { code, name, statusCode, requestId, traceId } = error.details;
    return {
      code,
      message: error.message,
      name,
      details: { statusCode: statusCode ?? null, requestId: requestId ?? null, traceId: traceId ?? null },
      retryable: retryableCodes.has(code),
    };
  }
  if (error instanceof EngineError) {
    return {
      code: error.code,
      message: error.message,
      ...(error.details ? { details: error.details } : {}),
      retryable: retryableCodes.has(error.code),
    };
  }
  const code = error instanceof ServiceError ? (serviceCodes[error.name] ?? 'internal') : 'internal';
  return { code, message: errorMessage(error) || 'internal error', retryable: retryableCodes.has(code) };
}
