/**
 * The one way out to the model servers: every SDK gets a `fetch` of ours, which sends our headers in
 * place of theirs, goes through one dispatcher with our time-outs and proxy rules, and keeps what errors need.
 */
import type { EnvHttpProxyAgent } from 'undici';
import { dispatcherOptions, type Timeouts } from './dispatcher.ts';
import { send, type SentRequest } from './send.ts';

export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 30_000, firstByteMs: 300_000, idleMs: 120_000 };

/** SDK timers are switched off by it; the dispatcher's time-outs count instead. The largest delay of a Node timer. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;

const FAILURE_BODY_LIMIT_BYTES = 64 * 1024;

/** Within one origin; keys go to no other. */
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The protocol's own headers, set by the SDKs; whatever else they or their environment variables add is dropped. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'anthropic-version', 'anthropic-beta'];

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
  fetch: typeof globalThis.fetch;
  facts: ExchangeFacts;
}

export interface Transport {
  /** A `fetch` for one request; `auth` is the header that carries the key, absent for a server without one. */
  exchange(headers: Record<string, string>, auth?: { name: string; value: string }): Exchange;
  /** Breaks off what is still running and closes the sockets. */
  close(): Promise<void>;
}

/** Builds the transport; nothing is loaded or opened before the first request. */
export function createTransport(timeouts: Timeouts = DEFAULT_TIMEOUTS): Transport {
  let opened: Promise<{ undici: typeof import('undici'); dispatcher: EnvHttpProxyAgent }> | undefined;

  async function open() {
    const undici = await import('undici');
    return { undici, dispatcher: new undici.EnvHttpProxyAgent(dispatcherOptions(timeouts)) };
  }

  return {
    exchange(headers, auth) {
      const facts: ExchangeFacts = {};
      return {
        facts,
        async fetch(input, init) {
          const { undici, dispatcher } = await (opened ??= open());
          const url = input instanceof Request ? input.url : String(input);
          let response: Response;
          try {
            response = await followRedirects(
              url,
              {
                method: init?.method ?? 'GET',
                headers: ownHeaders(init?.headers, headers, auth),
                body: repeatable(init?.body),
                signal: init?.signal ?? undefined,
              },
              (target, request) => send(undici, dispatcher, target, request),
            );
          } catch (error) {
            facts.unreachable = error;
            throw error;
          }
          facts.headers = response.headers;
          if (response.ok) return response;
          const body = REDIRECTS.has(response.status)
            ? `The answer is a redirect${destination(response, url)}, which is not followed.`
            : await readBounded(response, FAILURE_BODY_LIMIT_BYTES);
          facts.failure = { status: response.status, body };
          return new Response(body, { status: response.status, headers: [...response.headers] });
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
  send: (url: string, request: SentRequest) => Promise<Response>,
): Promise<Response> {
  let target = url;
  let request = first;
  for (let followed = 0; ; followed++) {
    const response = await send(target, request);
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null || followed === MAX_REDIRECTS) return response;
    if (!URL.canParse(location, target)) return response;
    const next = new URL(location, target);
    if (next.origin !== new URL(target).origin) return response;
    await response.body?.cancel();
    target = next.href;
    const { status } = response;
    if (status === 303 || (status < 303 && request.method.toUpperCase() === 'POST')) {
      request = { ...request, method: 'GET', body: null };
    }
  }
}

/** The origin alone: the rest of an address may be somebody's secret. */
function destination(response: Response, url: string): string {
  const location = response.headers.get('location') ?? '';
  return URL.canParse(location, url) ? ` to ${new URL(location, url).origin}` : '';
}

/** Own headers win over the SDK's; `Authorization`, `Accept` and `Content-Type` of the protocol win over ours. */
function ownHeaders(
  theirs: RequestInit['headers'],
  ours: Record<string, string>,
  auth: { name: string; value: string } | undefined,
): Record<string, string> {
  const sdk = new Headers(theirs);
  const sent: Record<string, string> = {};
  for (const name of PROTOCOL_HEADERS) {
    const value = sdk.get(name);
    if (value !== null) sent[name] = value;
  }
  for (const [name, value] of Object.entries(ours)) {
    const key = name.toLowerCase();
    if (key !== 'accept' && key !== 'content-type') sent[key] = value;
  }
  if (auth) sent[auth.name] = auth.value;
  return sent;
}

async function readBounded(response: Response, limitBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  if (!reader) return '';
  try {
    while (size < limitBytes) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.byteLength;
    }
    await reader.cancel();
  } catch {
    // The status is the fact that counts; a body that breaks off only shortens the message.
  }
  return Buffer.concat(chunks).subarray(0, limitBytes).toString('utf8');
}
