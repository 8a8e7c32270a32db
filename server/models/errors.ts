/** Classification of failed model requests by status, code and text, independent of the SDKs' error classes. */
import { STATUS_CODES } from 'node:http';
import { AccessTokenError } from '#server/account/tokens.ts';
import { asRecord, tryParseJson } from '#server/text/json.ts';
import type { ExchangeResult } from '#server/net/fetch.ts';
import { ModelError, type ModelErrorDetails } from './types.ts';

const RETRIED_STATUSES = new Set([408, 409, 429, 500, 502, 503, 504, 529]);
const OVERFLOW_STATUSES = new Set([400, 413, 422]);

/** Matched against the lower-cased message. */
const OVERFLOW = [
  /context length/,
  /context window.*exceed|exceed.*context window/s,
  /maximum context/,
  /exceed.*\bmax(?:imum)? tokens/s,
  /too many tokens.*(?:prompt|input|context)|(?:prompt|input|context).*too many tokens/s,
  /prompt.*too long.*maximum/s,
  /input token count.*exceeds.*maximum number of tokens/s,
  /request.*exceed.*model token limit/s,
];
const TOO_LARGE =
  /request exceeds (?:the )?maximum size|entity too large|request_too_large|maximum allowed number of bytes|(?:payload|content|request(?: body)?)(?: is)? too large/;
const IMAGE_FORMAT =
  /(?:image|media).{0,80}(?:format|type|unsupported|not supported|invalid|could not|cannot|decode)|(?:unsupported|invalid|could not process).{0,40}(?:image|media)/s;
const STRUCTURE =
  /tool_use|tool_result|tool_call_id|'?tool_calls'? must be followed|function (?:call|response) (?:turn|part)|roles must alternate|text content blocks must (?:be non-empty|contain)|text must be non-empty|ids must be unique|first message must/;
const QUOTA =
  /(?:quota|balance|credits?)\b.{0,60}(?:exhaust|exceed|insufficient|used up|not enough)|(?:exhaust|exceed|insufficient|not enough).{0,60}(?:quota|balance|credits?)\b/s;

interface Failure {
  status?: number;
  /** Text without the status. */
  text: string;
  /** `type`, `code` and `status` of the error object, lower-cased. */
  words: string[];
  retryDelayMs?: number;
}

/**
 * Returns the `ModelError` for any error that a protocol's stream threw. An HTTP failure is read from the exchange
 * itself, so that it is the same for every SDK.
 */
export function toModelError(error: unknown, exchange: ExchangeResult, native: boolean): ModelError {
  if (error instanceof ModelError) return error;
  if (exchange.unauthorized instanceof AccessTokenError) return loginError(exchange.unauthorized);
  if (exchange.failure) {
    const { status, body } = exchange.failure;
    return build({ ...describe(tryParseJson(body) ?? body), status }, exchange, native, error);
  }
  const thrown = asRecord(error);
  // openai and Anthropic carry the error object of the stream as `error`, Google as JSON in the message.
  if (thrown?.error) return streamError(thrown.error, exchange, native);
  if (thrown?.name === 'ApiError' && typeof thrown.message === 'string') {
    return streamError(
      tryParseJson(thrown.message.slice(thrown.message.indexOf('{'))) ?? thrown.message,
      exchange,
      native,
    );
  }
  if (exchange.unreachable !== undefined || isConnectionError(error)) {
    return connectionError(reason(exchange.unreachable ?? error), exchange, error);
  }
  const text = error instanceof Error ? error.message : String(error);
  return build({ text, words: [] }, exchange, native, error);
}

/** An error object that arrived inside the stream; it has no HTTP status, so one is derived from its words. */
export function streamError(payload: unknown, exchange: ExchangeResult, native: boolean): ModelError {
  const failure = describe(payload);
  return build({ ...failure, ...statusOf(payload, failure.words) }, exchange, native);
}

/** The stream closed without its end mark. */
export function brokenStream(exchange: ExchangeResult): ModelError {
  return connectionError('the stream ended before the answer was complete', exchange);
}

/** No access token could be obtained for the request. A login whose host cannot be reached is tried again. */
function loginError(error: AccessTokenError): ModelError {
  const details: Pick<ModelErrorDetails, 'code' | 'retry'> =
    error.reason === 'missing'
      ? { code: 'auth.token_missing', retry: false }
      : error.reason === 'refused'
        ? { code: 'auth.login_required', retry: false }
        : { code: 'provider.connection_error', retry: error.transient };
  return new ModelError(error.message, { ...details, name: error.name }, { cause: error });
}

/** A response without visible text and without calls. */
export function emptyResponse(rawFinishReason: string | undefined): ModelError {
  return new ModelError(`empty response (finish reason: ${rawFinishReason ?? 'none'})`, {
    code: 'provider.api_error',
    name: 'APIEmptyResponseError',
    retry: true,
  });
}

function connectionError(text: string, exchange: ExchangeResult, cause?: unknown): ModelError {
  return new ModelError(
    `connection to the model failed: ${text}`,
    { code: 'provider.connection_error', name: 'APIConnectionError', retry: true, ...traces(exchange) },
    { cause },
  );
}

function build(failure: Failure, exchange: ExchangeResult, native: boolean, cause?: unknown): ModelError {
  const { status } = failure;
  let text = failure.text.replaceAll('\r', '').trim();
  if (!text) text = (status !== undefined && STATUS_CODES[status]) || 'no message';
  if ((status === 400 || status === 422) && /effort/i.test(text)) {
    text +=
      ' (the model may not support this thinking effort: choose another one, or list its efforts in `support_efforts`)';
  }
  const retryAfterMs = retryAfter(exchange) ?? failure.retryDelayMs;
  return new ModelError(
    status === undefined ? text : `${status} ${text}`,
    {
      name: 'APIStatusError',
      ...classify({ ...failure, text }, native),
      ...(status !== undefined && { statusCode: status }),
      ...traces(exchange),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    { cause },
  );
}

function classify(failure: Failure, native: boolean): Pick<ModelErrorDetails, 'code' | 'retry' | 'recovery'> {
  const { status, words } = failure;
  const text = failure.text.toLowerCase();
  if (status === 429) {
    const exhausted = words.some((word) => /quota|balance/.test(word)) || QUOTA.test(text);
    if (native && exhausted) return { code: 'provider.api_error', retry: false };
    return { code: 'provider.rate_limit', retry: true };
  }
  if (
    words.includes('context_length_exceeded') ||
    (status !== undefined && OVERFLOW_STATUSES.has(status) && OVERFLOW.some((pattern) => pattern.test(text)))
  ) {
    return { code: 'context.overflow', retry: false };
  }
  if (status === 413 && (TOO_LARGE.test(text) || words.includes('request_too_large'))) {
    return { code: 'provider.api_error', retry: false, recovery: 'request_too_large' };
  }
  if (status === 529 || ((status === 500 || status === 503) && text.includes('overload'))) {
    return { code: 'provider.overloaded', retry: true };
  }
  if (status === 401 || status === 403) return { code: 'provider.auth_error', retry: false };
  const imageFormat = IMAGE_FORMAT.test(text);
  if (status === undefined) return { code: 'provider.api_error', retry: !imageFormat };
  const retry = RETRIED_STATUSES.has(status);
  if (status === 400 && imageFormat) return { code: 'provider.api_error', retry, recovery: 'image_format' };
  if ((status === 400 || status === 422) && STRUCTURE.test(text)) {
    return { code: 'provider.api_error', retry, recovery: 'structure' };
  }
  return { code: 'provider.api_error', retry };
}

/** Text and words of an error body: `{ error: { message, … } }`, `{ message }`, a list of one, or plain text. */
function describe(payload: unknown): Failure {
  if (typeof payload === 'string') return { text: plainText(payload), words: [] };
  const body = asRecord(Array.isArray(payload) ? payload[0] : payload);
  const error = asRecord(body?.error) ?? body;
  const message = error?.message ?? body?.message ?? (typeof body?.error === 'string' ? body.error : undefined);
  const words = [error?.type, error?.code, error?.status].flatMap((word) =>
    typeof word === 'string' ? [word.toLowerCase()] : [],
  );
  const retryDelayMs = retryInfo(error?.details);
  return {
    text: typeof message === 'string' ? plainText(message) : JSON.stringify(message ?? payload ?? ''),
    words,
    ...(retryDelayMs !== undefined && { retryDelayMs }),
  };
}

/** Unwraps JSON inside a message, and reduces an HTML page to its title. */
function plainText(text: string): string {
  const inner = text.trimStart().startsWith('{') ? tryParseJson(text) : undefined;
  if (inner !== undefined) return describe(inner).text;
  if (/<html|<!doctype/i.test(text)) return /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1] ?? 'an HTML page';
  return text;
}

function statusOf(payload: unknown, words: string[]): { status?: number } {
  const body = asRecord(Array.isArray(payload) ? payload[0] : payload);
  const code = asRecord(body?.error)?.code ?? body?.code;
  if (typeof code === 'number' && Number.isInteger(code) && code >= 400) return { status: code };
  for (const word of words) {
    if (word.startsWith('rate_limit')) return { status: 429 };
    if (word.startsWith('overloaded')) return { status: 529 };
    if (word.startsWith('authentication') || word.startsWith('permission')) return { status: 401 };
    if (word.startsWith('invalid_request') || word.startsWith('context_length')) return { status: 400 };
  }
  return {};
}

/** `Retry-After` in milliseconds; forms other than whole seconds are ignored. */
function retryAfter({ headers }: ExchangeResult): number | undefined {
  const value = headers?.get('retry-after')?.trim();
  if (!value || !/^\d+$/.test(value)) return undefined;
  const seconds = Number(value);
  return seconds > 0 ? seconds * 1000 : undefined;
}

/** Gemini's `google.rpc.RetryInfo`: `{ retryDelay: "3.5s" }`. */
function retryInfo(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay = asRecord(detail)?.retryDelay;
    const match = typeof delay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(delay) : null;
    if (match && Number(match[1]) > 0) return Math.round(Number(match[1]) * 1000);
  }
  return undefined;
}

function traces({ headers }: ExchangeResult): Pick<ModelErrorDetails, 'requestId' | 'traceId'> {
  const requestId = headers?.get('x-request-id') ?? headers?.get('request-id');
  const traceId = headers?.get('x-trace-id');
  return { ...(requestId && { requestId }), ...(traceId && { traceId }) };
}

/** Whether a socket broke, a request timed out, or a line of the stream is not JSON. */
function isConnectionError(error: unknown): boolean {
  for (let link: unknown = error, depth = 0; link instanceof Error && depth < 5; link = link.cause, depth++) {
    const code = asRecord(link)?.code;
    if (link instanceof SyntaxError || link.message === 'terminated') return true;
    if (typeof code === 'string' && /^(?:UND_ERR_|E[A-Z]{3,})/.test(code)) return true;
    if (/Incomplete JSON segment|exception parsing stream chunk/.test(link.message)) return true;
  }
  return false;
}

/** The innermost message is the specific one: `connect ECONNREFUSED …` instead of `fetch failed`. */
function reason(error: unknown): string {
  let message = String(error);
  for (let link: unknown = error, depth = 0; link instanceof Error && depth < 5; link = link.cause, depth++) {
    if (link.message) message = link.message;
  }
  return message;
}
