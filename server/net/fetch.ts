/**
 * The one way out to the model servers: protocols and SDKs send by a `post` or a `fetch` of ours, with our headers in
 * place of theirs, through one dispatcher with our time-outs and proxy rules, and what errors need is kept.
 */
import type { EnvHttpProxyAgent } from 'undici';
import { dispatcherOptions, type Timeouts } from './dispatcher.ts';
import { send, toResponse, type Answer, type AnswerBody, type SentRequest } from './send.ts';

export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 30_000, firstByteMs: 300_000, idleMs: 120_000 };

/** SDK timers are switched off by it; the dispatcher's time-outs count instead. The largest delay of a Node timer. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

const FAILURE_BODY_LIMIT_BYTES = 64 * 1024;

/** Within one origin; keys go to no other. */
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The protocol's own headers, set by the SDKs; whatever else they or their environment variables add is dropped. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'anthropic-version', 'anthropic-beta'];

const JSON_HEADERS = new Map([
  ['accept', 'application/json'],
  ['content-type', 'application/json'],
]);

/** What is known of one request after it went wrong. */
export interface ExchangeFacts {
  /** Headers of the answer, once it came. */
  headers?: Headers;
  /** An answer with a status outside 2xx; the body is cut at 64 KiB. */
  failure?: { status: number; body: string };
  /** The request never got an answer: what undici threw. */
  unreachable?: unknown;
}

export interface Exchange {
  /** What SDKs send by. */
  fetch: typeof globalThis.fetch;
  /** Sends JSON and gives the body of an answer within 2xx; throws for every other. */
  post(url: string, json: Uint8Array, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  facts: ExchangeFacts;
}

export interface Transport {
  /** Loads what the first request loads otherwise. */
  load(): Promise<unknown>;
  /** A `fetch` for one request; `auth` is the header that carries the key, absent for a server without one. */
  exchange(headers: Record<string, string>, auth?: { name: string; value: string }): Exchange;
  /** Breaks off what is still running and closes the sockets. */
  close(): Promise<void>;
}

/** Builds the transport; nothing is loaded or opened before the first request. */
export function createTransport(timeouts: Timeouts = DEFAULT_TIMEOUTS): Transport {
  let opened: Promise<{ undici: typeof import('undici'); dispatcher: EnvHttpProxyAgent }> | undefined;

  async function openOnce() {
    const undici = await import('undici');
    return { undici, dispatcher: new undici.EnvHttpProxyAgent(dispatcherOptions(timeouts)) };
  }

  /** After a failure, such as without free descriptors, the next call tries again. */
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
      const facts: ExchangeFacts = {};

      async function exchanged(url: string, request: SentRequest): Promise<Answer> {
        const { undici, dispatcher } = await open();
        const sendTo = (target: string, again: SentRequest) => send(undici, dispatcher, target, again);
        const answer = await followRedirects(url, request, sendTo).catch((error: unknown) => {
          facts.unreachable = error;
          throw error;
        });
        facts.headers = answer.headers;
        const { status } = answer;
        if (status >= 200 && status < 300) return answer;
        let body: string;
        if (REDIRECTS.has(status)) {
          answer.body.cancel();
          body = `The answer is a redirect${destination(answer, url)}, which is not followed.`;
        } else body = await readBounded(answer.body, FAILURE_BODY_LIMIT_BYTES);
        facts.failure = { status, body };
        return answer;
      }

      return {
        facts,
        async fetch(input, init) {
          const answer = await exchanged(input instanceof Request ? input.url : String(input), {
            method: init?.method ?? 'GET',
            headers: ownHeaders(new Headers(init?.headers), headers, auth),
            body: repeatable(init?.body),
            signal: init?.signal ?? undefined,
          });
          const { failure } = facts;
          if (!failure) return toResponse(answer);
          return new Response(failure.body, { status: failure.status, headers: [...answer.headers] });
        },
        async post(url, json, signal) {
          const answer = await exchanged(url, {
            method: 'POST',
            headers: ownHeaders(JSON_HEADERS, headers, auth),
            body: json,
            signal,
          });
          if (facts.failure) throw new Error(`the answer's status is ${facts.failure.status}`);
          return answer.body;
        },
      };
    },
    async close() {
      if (opened) await (await opened).dispatcher.destroy();
    },
  };
}

/** The SDKs send texts; a stream could not be sent again after a redirect. */
function repeatable(body: RequestInit['body']): string | Uint8Array | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new TypeError('a request body is a text or bytes');
}

/**
 * Redirects are followed by hand: a server of another origin must not get the key. One that is not followed is handed
 * back as the answer, which fails the request with its status.
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

/** The origin alone: the rest of an address may be somebody's secret. */
function destination(response: Answer, url: string): string {
  const location = response.headers.get('location') ?? '';
  return URL.canParse(location, url) ? ` to ${new URL(location, url).origin}` : '';
}

/** Own headers win over the protocol's; `Authorization`, `Accept` and `Content-Type` of the protocol win over ours. */
function ownHeaders(
  theirs: Pick<Headers, 'get'> | ReadonlyMap<string, string>,
  ours: Record<string, string>,
  auth: { name: string; value: string } | undefined,
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
  if (auth) sent[auth.name] = auth.value;
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
    // The status is the fact that counts; a body that breaks off only shortens the message.
  }
  return Buffer.concat(pieces).subarray(0, limitBytes).toString('utf8');
}
