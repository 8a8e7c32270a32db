/**
 * Fetches from this machine. Both the model that requests a page and the host that serves it may be hostile: neither
 * may reach what only this machine can reach. Cookies and credentials are never sent.
 */
import { STATUS_CODES } from 'node:http';
import { loadUndici } from '#server/net/load-undici.ts';
import type { Network } from '#server/net/network.ts';
import { pinnedDispatcher } from '#server/net/pinned-dispatcher.ts';
import { BodyTooLarge, readBounded } from '#server/net/read-bounded.ts';
import { send, toResponse } from '#server/net/send.ts';
import { publicAddresses, webUrl } from './address.ts';
import { kindOfBytes, kindOfType, type BodyKind } from './body.ts';
import { reasonOf, WebFailure } from './failure.ts';

export const MAX_BODY_BYTES = 10 * 1024 * 1024;
export const MAX_REDIRECTS = 10;

const TIMEOUTS = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 30_000 };
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const ACCEPT = 'text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5';

export interface FetchedBody {
  /** The final address, after redirects. */
  url: URL;
  contentType: string | null;
  kind: BodyKind;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface LocalFetchDeps {
  network: Network;
  userAgent: string;
  signal: AbortSignal;
}

/** Follows redirects and checks the host of each. Throws `WebFailure`, and the signal's reason. */
export async function fetchFromHere(start: URL, deps: LocalFetchDeps): Promise<FetchedBody> {
  let url = start;
  for (let followed = 0; ; followed += 1) {
    const answer = await fetchOnce(url, deps);
    if (!(answer instanceof URL)) return answer;
    if (followed === MAX_REDIRECTS) throw new WebFailure(`redirects more than ${MAX_REDIRECTS} times`);
    url = answer;
  }
}

/** Returns the body, or the target of a redirect. No connection to a foreign host outlives its request. */
async function fetchOnce(url: URL, deps: LocalFetchDeps): Promise<FetchedBody | URL> {
  const { signal, userAgent } = deps;
  const undici = await loadUndici();
  const dispatcher = pinnedDispatcher(undici, await publicAddresses(url, deps.network, signal), TIMEOUTS);
  try {
    const headers = { 'user-agent': userAgent, accept: ACCEPT };
    const answer = await send(undici, dispatcher, url.href, { method: 'GET', headers, body: null, signal });
    const response = toResponse(answer);
    const location = response.headers.get('location');
    if (REDIRECTS.has(response.status) && location !== null) {
      await response.body?.cancel();
      return webUrl(location, url);
    }
    return await received(response, url);
  } catch (error) {
    if (signal.aborted || error instanceof WebFailure) throw error;
    if (error instanceof BodyTooLarge) throw tooLarge();
    throw new WebFailure(`could not be reached: ${reasonOf(error)}`, { cause: error });
  } finally {
    await dispatcher.destroy();
  }
}

async function received(response: Response, url: URL): Promise<FetchedBody> {
  const { status, headers } = response;
  if (!response.ok) throw new WebFailure(`answered with status ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd());
  const contentType = headers.get('content-type');
  const kind = kindOfType(contentType);
  if (Number(headers.get('content-length')) > MAX_BODY_BYTES) throw tooLarge();
  const bytes = await readBounded(response, MAX_BODY_BYTES);
  return { url, contentType, kind: kind ?? kindOfBytes(bytes), bytes };
}

const tooLarge = () => new WebFailure(`is larger than ${MAX_BODY_BYTES} bytes`);
