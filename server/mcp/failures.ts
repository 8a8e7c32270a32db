/** Classification of a server's errors, for its tools and its state. */
import { errorMessage } from '#server/errors/service-error.ts';
import { isRecord } from '#server/text/json.ts';

/**
 * `refused`: the server answered with an error, or with an invalid result. `unauthorized`: it requires a sign-in or a
 * further scope. `timeout`: the request was given up; its effects are unknown. `lost`: the request or its response did
 * not get through.
 */
export type FailureKind = 'aborted' | 'refused' | 'unauthorized' | 'timeout' | 'lost';

const REFUSED = new Set(['INVALID_RESULT', 'UNSUPPORTED_RESULT_TYPE', 'INPUT_REQUIRED_ROUNDS_EXCEEDED']);
const UNAUTHORIZED = 401;

/** Matches by names and codes: the library is loaded with the first connection, and its errors may be wrapped. */
export function failureKind(error: unknown, signal?: AbortSignal): FailureKind {
  if (signal?.aborted) return 'aborted';
  for (const one of causes(error)) {
    if (asksForSignIn(one)) return 'unauthorized';
    if (one.code === 'REQUEST_TIMEOUT') return 'timeout';
    if (typeof one.code === 'string' && REFUSED.has(one.code)) return 'refused';
    if (one.name === 'ProtocolError') return 'refused';
  }
  return 'lost';
}

/** The scope that a 403 reports as missing; empty if it names none, undefined for other errors. */
export function missingScope(error: unknown): string | undefined {
  for (const one of causes(error)) {
    if (one.name === 'InsufficientScopeError') return typeof one.requiredScope === 'string' ? one.requiredScope : '';
  }
  return undefined;
}

const asksForSignIn = ({ name, status, code }: Facts) =>
  name === 'UnauthorizedError' || name === 'InsufficientScopeError' || status === UNAUTHORIZED || code === UNAUTHORIZED;

type Facts = Record<string, unknown>;

/** The error and its chain of causes, at most five. */
function causes(error: unknown): Facts[] {
  const found: Facts[] = [];
  for (let at = error; isRecord(at) && found.length < 5; at = at.cause) {
    found.push({
      name: at.name,
      code: at.code,
      status: at.status,
      message: at.message,
      requiredScope: at.requiredScope,
    });
  }
  return found;
}

/** The text for people, not shortened. The reason of a failed `fetch` is in its cause. */
export function failureText(error: unknown): string {
  const texts = causes(error).flatMap(({ message, code }) =>
    typeof message === 'string' && message !== '' ? [message] : typeof code === 'string' ? [code] : [],
  );
  return [...new Set(texts)].join(': ') || errorMessage(error);
}

/** The text that users see for a server that requires a sign-in. */
export const requiresSignIn = (name: string): string =>
  `${name} requires OAuth: sign in from the MCP panel of the page, or with the tool of the server that is named authenticate`;
