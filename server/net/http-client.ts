/**
 * A `fetch` for protocol libraries (such as MCP's): passes all headers, leaves redirects to the caller, and has no idle
 * timeout, since an event stream may be silent for hours. Proxies and certificates are those of all requests.
 */
import type { EnvHttpProxyAgent } from 'undici';
import { dispatcherOptions, type Timeouts } from './dispatcher.ts';
import { loadUndici } from './load-undici.ts';

const TIMEOUTS: Timeouts = { connectMs: 30_000, firstByteMs: 0, idleMs: 0 };

/** The subset of `fetch` that such libraries use. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface HttpClient {
  /** Follows no redirects. A body is a string, bytes or form fields. */
  fetch: Fetch;
  /** Aborts running requests and closes the sockets. */
  close(): Promise<void>;
}

export type OpenDispatcher = (undici: typeof import('undici'), timeouts: Timeouts) => EnvHttpProxyAgent;

/** Creates the client; modules, dispatcher and sockets are loaded and opened with the first request. */
export function createHttpClient(
  openDispatcher: OpenDispatcher = (undici, timeouts) => new undici.EnvHttpProxyAgent(dispatcherOptions(timeouts)),
): HttpClient {
  let opened: ReturnType<typeof openOnce> | undefined;

  async function openOnce() {
    const [undici, { send, toResponse }] = await Promise.all([loadUndici(), import('./send.ts')]);
    return { undici, send, toResponse, dispatcher: openDispatcher(undici, TIMEOUTS) };
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
    async fetch(url, init = {}) {
      const { undici, send, toResponse, dispatcher } = await open();
      const headers = headersOf(init.headers);
      const { body } = init;
      if (body instanceof URLSearchParams && !headers.has('content-type')) {
        headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
      }
      const request = {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(headers),
        body: bodyOf(body),
        signal: init.signal ?? undefined,
      };
      return toResponse(await send(undici, dispatcher, String(url), request));
    },
    async close() {
      if (opened) await (await opened).dispatcher.destroy();
    },
  };
}

/** The platform's error quotes the value, which may be a token. */
function headersOf(init: RequestInit['headers']): Headers {
  try {
    return new Headers(init);
  } catch {
    throw new TypeError('a header has a character that is not allowed');
  }
}

function bodyOf(body: RequestInit['body']): string | Uint8Array | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('a request body is a text, bytes or form fields');
}
