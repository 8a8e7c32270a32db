/**
 * Transport for requests to model servers: protocols and SDKs send through its `post` or `fetch`, which replace their
 * headers with the configured ones, apply our timeouts and proxy rules, and record what error messages need.
 */
import type { EnvHttpProxyAgent } from 'undici';
import { dispatcherOptions, type Timeouts } from './dispatcher.ts';
import { loadUndici } from './load-undici.ts';
import { send, toResponse, type Answer, type AnswerBody, type SentRequest } from './send.ts';

export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 30_000, firstByteMs: 300_000, idleMs: 120_000 };

/** Effectively disables SDK timers, so that the dispatcher's timeouts apply. The maximum delay of a Node timer. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

const FAILURE_BODY_LIMIT_BYTES = 64 * 1024;

/** Only within one origin; keys are never sent to another. */
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Protocol headers that the SDKs set; any others that they or their environment variables add are dropped. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'anthropic-version', 'anthropic-beta'];

const JSON_HEADERS = new Map([
  ['accept', 'application/json'],
  ['content-type', 'application/json'],
]);

/** Facts about a request for its error message. */
export interface ExchangeResult {
  /** Headers of the response, after it has arrived. */
  headers?: Headers;
  /** A response with a status outside 2xx; the body is truncated to 64 KiB. */
  failure?: { status: number; body: string };
  /** undici's error if no response arrived. */
  unreachable?: unknown;
  /** The error if the request could not be authorized, so that it was not sent. */
  unauthorized?: unknown;
}

/**
 * The header that authorizes a request: its value, or a function that sends the request with a value; it may send it
 * again with another one when the reply is a refusal.
 */
export type RequestAuth =
  | { name: string; value: string }
  | {
      name: string;
      authorize(send: (value: string) => Promise<Answer>, signal: AbortSignal | undefined): Promise<Answer>;
    };

export interface Exchange {
  /** `fetch` for SDKs. */
  fetch: typeof globalThis.fetch;
  /** Sends JSON and returns the body of a 2xx response; throws for any other. */
  post(url: string, json: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  result: ExchangeResult;
}

export interface Transport {
  /** Loads the modules ahead of the first request. */
  load(): Promise<unknown>;
  /** A `fetch` for one request; `auth` is undefined for a server without a key. */
  exchange(headers: Record<string, string>, auth?: RequestAuth): Exchange;
  /** Aborts running requests and closes the sockets. */
  close(): Promise<void>;
}

/** Creates the transport; modules and sockets are loaded and opened with the first request. */
export function createTransport(timeouts: Timeouts = DEFAULT_TIMEOUTS): Transport {
  let opened: Promise<{ undici: typeof import('undici'); dispatcher: EnvHttpProxyAgent }> | undefined;

  async function openOnce() {
    const undici = await loadUndici();
    return { undici, dispatcher: new undici.EnvHttpProxyAgent(dispatcherOptions(timeouts)) };
  }

  /** Memoized; after a failure (for example no free descriptors) the next call retries. */
  function open() {
    opened ??= openOnce().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }

  return {
    load: open,
    exchange(headers, auth) {
      const result: ExchangeResult = {};

      async function authorized(
        attempt: (value: string | undefined) => Promise<Answer>,
        signal: AbortSignal | undefined,
      ): Promise<Answer> {
        if (!auth || 'value' in auth) return attempt(auth?.value);
        return auth.authorize(attempt, signal);
      }

      async function exchanged(url: string, request: SentRequest): Promise<Answer> {
        const { undici, dispatcher } = await open();
        const sendTo = (target: string, again: SentRequest) => send(undici, dispatcher, target, again);
        const attempt = (value: string | undefined) => {
          const headers = auth && value !== undefined ? { ...request.headers, [auth.name]: value } : request.headers;
          return followRedirects(url, { ...request, headers }, sendTo).catch((error: unknown) => {
            result.unreachable = error;
            throw error;
          });
        };
        const answer = await authorized(attempt, request.signal).catch((error: unknown) => {
          if (result.unreachable === undefined) result.unauthorized = error;
          throw error;
        });
        result.headers = answer.headers;
        const { status } = answer;
        if (status >= 200 && status < 300) return answer;
        let body: string;
        if (REDIRECTS.has(status)) {
          answer.body.cancel();
          body = `The answer is a redirect${destination(answer, url)}, which is not followed.`;
        } else body = await readBounded(answer.body, FAILURE_BODY_LIMIT_BYTES);
        result.failure = { status, body };
        return answer;
      }

      return {
        result,
        async fetch(input, init) {
          const answer = await exchanged(input instanceof Request ? input.url : String(input), {
            method: init?.method ?? 'GET',
            headers: ownHeaders(new Headers(init?.headers), headers),
            body: repeatable(init?.body),
            signal: init?.signal ?? undefined,
          });
          const { failure } = result;
          if (!failure) return toResponse(answer);
          return new Response(failure.body, { status: failure.status, headers: [...answer.headers] });
        },
        async post(url, json, signal) {
          const answer = await exchanged(url, {
            method: 'POST',
            headers: ownHeaders(JSON_HEADERS, headers),
            body: json,
            signal,
          });
          if (result.failure) throw new Error(`the answer's status is ${result.failure.status}`);
          return answer.body;
        },
      };
    },
    async close() {
      if (opened) await (await opened).dispatcher.destroy();
    },
  };
}

/** SDKs send strings or bytes; a stream could not be sent again after a redirect. */
function repeatable(body: RequestInit['body']): string | Uint8Array | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new TypeError('a request body is a text or bytes');
}

/**
 * Follows redirects manually, because a server of another origin must not receive the key. A redirect that is not
 * followed is returned as the response, and its status fails the request.
 */
async function followRedirects(
  url: string,
  first: SentRequest,
  send: (url: string, request: SentRequest) => Promise<Answer>,
): Promise<Answer> {
  let target = url;
  let request = first;
  for (let followed = 0; ; followed++) {
    const response = await send(target, request);
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null || followed === MAX_REDIRECTS) return response;
    if (!URL.canParse(location, target)) return response;
    const next = new URL(location, target);
    if (next.origin !== new URL(target).origin) return response;
    response.body.cancel();
    target = next.href;
    const { status } = response;
    if (status === 303 || (status < 303 && request.method.toUpperCase() === 'POST')) {
      request = { ...request, method: 'GET', body: null };
    }
  }
}

/** Only the origin, because the rest of the URL may contain a secret. */
function destination(response: Answer, url: string): string {
  const location = response.headers.get('location') ?? '';
  return URL.canParse(location, url) ? ` to ${new URL(location, url).origin}` : '';
}

/** Configured headers override the SDK's, except `Accept` and `Content-Type`. */
function ownHeaders(
  theirs: Pick<Headers, 'get'> | ReadonlyMap<string, string>,
  ours: Record<string, string>,
): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name of PROTOCOL_HEADERS) {
    const value = theirs.get(name);
    if (value !== undefined && value !== null) sent[name] = value;
  }
  for (const [name, value] of Object.entries(ours)) {
    const key = name.toLowerCase();
    if (key !== 'accept' && key !== 'content-type') sent[key] = value;
  }
  return sent;
}

async function readBounded(body: AnswerBody, limitBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of body) {
      pieces.push(piece);
      size += piece.byteLength;
      if (size >= limitBytes) break;
    }
  } catch {
    // The status is sufficient; an interrupted body only shortens the message.
  }
  return Buffer.concat(pieces).subarray(0, limitBytes).toString('utf8');
}
