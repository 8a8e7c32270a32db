/** Errors of a turn as clients see them (engine.md §3.1). */
import { errorMessage, ServiceError } from '#server/errors.ts';
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

/** Why a turn was cancelled; the reason of its abort signal. */
export class TurnAborted extends Error {
  override readonly name = 'TurnAborted';
  /** `user` was a person's wish; `server` is an archive or a stop, with a text for clients. */
  readonly by: 'user' | 'server';

  constructor(by: 'user' | 'server', message: string) {
    super(message);
    this.by = by;
  }
}

const serviceCodes: Record<number, string> = {
  40110: 'auth.provisioning_required',
  40111: 'auth.token_missing',
  40112: 'auth.token_unauthorized',
  40113: 'auth.model_not_resolved',
  40901: 'session.busy',
  50003: 'storage.io_failed',
};

/** The payload of `turn.ended.error` and of the `error` event; unknown values become `internal`. */
export function errorPayload(error: unknown): ErrorPayload {
  if (error instanceof ModelError) {
    const { code, name, statusCode, requestId, traceId } = error.facts;
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
  const code = error instanceof ServiceError ? (serviceCodes[error.code] ?? 'internal') : 'internal';
  return { code, message: errorMessage(error) || 'internal error', retryable: retryableCodes.has(code) };
}
