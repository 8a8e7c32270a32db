/** Reads a document of another server: bounded size and time, redirects, a key that only its own origin receives. */
import { isIP } from 'node:net';
import { mergeHeaders } from '#server/account/identity.ts';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import { readBounded } from '#server/net/read-bounded.ts';

export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
const MAX_FAILURE_BYTES = 64 * 1024;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface DocumentRequest {
  headers: Record<string, string>;
  /** Sent as bearer, only to the origin of the URL; an empty one is not sent. */
  key: string;
  /** Whether redirects to other origins are followed. */
  leavesOrigin: boolean;
  signal: AbortSignal;
}

export interface DocumentReply {
  status: number;
  /** Empty if the body of a failure could not be read. */
  body: string;
}

export interface DocumentReaderDeps {
  /** Must follow no redirects. */
  fetch: Fetch;
  network: Pick<Network, 'resolve' | 'localScope'>;
}

/** Returns a reply of any status. Throws for a body above 16 MiB, refused redirects and failed connections. */
export const getDocument = async (
  url: string,
  request: DocumentRequest,
  deps: DocumentReaderDeps,
): Promise<DocumentReply> => replyOf(await openDocument(url, request, deps));

/** Follows redirects and returns the last response, whose body is to be read or cancelled. */
export async function openDocument(
  url: string,
  { headers, key, leavesOrigin, signal }: DocumentRequest,
  { fetch, network }: DocumentReaderDeps,
): Promise<Response> {
  const start = new URL(url);
  let target = start;
  for (let followed = 0; ; followed += 1) {
    const isOwner = key !== '' && target.origin === start.origin;
    const sent = isOwner ? mergeHeaders(headers, { authorization: `Bearer ${key}` }) : headers;
    const response = await fetch(target, { headers: sent, signal });
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null) return response;
    await response.body?.cancel();
    if (followed === MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects`);
    if (!URL.canParse(location, target.href)) throw new Error('a redirect to an invalid address');
    const next = new URL(location, target);
    await assertFollowed(start, target, next, leavesOrigin, network);
    target = next;
  }
}

async function replyOf(response: Response): Promise<DocumentReply> {
  const { status, ok } = response;
  const bytes = readBounded(response, ok ? MAX_DOCUMENT_BYTES : MAX_FAILURE_BYTES);
  // The status of a failure is sufficient.
  const body = Buffer.from(ok ? await bytes : await bytes.catch(() => ''));
  return { status, body: body.toString() };
}

async function assertFollowed(
  start: URL,
  from: URL,
  to: URL,
  leavesOrigin: boolean,
  network: DocumentReaderDeps['network'],
): Promise<void> {
  if (to.protocol !== 'https:' && to.protocol !== 'http:') throw new Error(`a redirect to ${to.protocol}`);
  if (to.origin === start.origin) return;
  if (!leavesOrigin) throw new Error(`a redirect to ${to.origin}`);
  // The document decides where the key is sent later.
  if (to.protocol === 'http:' && from.protocol === 'https:') throw new Error('a redirect from https to http');
  const scope = await localScopeOf(to, network);
  // Servers elsewhere must not reach services of this machine.
  if (scope !== undefined && (await localScopeOf(start, network)) === undefined)
    throw new Error(`a redirect to ${scope}`);
}

async function localScopeOf({ hostname }: URL, network: DocumentReaderDeps['network']): Promise<string | undefined> {
  const host = hostname.replace(/^\[|\]$/g, '');
  // A name that only a proxy can resolve does not name this machine.
  const addresses = isIP(host) > 0 ? [host] : await network.resolve(host).catch(() => []);
  for (const address of addresses) {
    const scope = await network.localScope(address);
    if (scope !== undefined) return scope;
  }
  return undefined;
}

/** Passes `work` a signal that aborts after `ms` or with `signal`; a failure by the limit is reported as such. */
export async function withinTime<T>(
  ms: number,
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const stop = clock.setTimeout(() => limit.abort(new Error(`timed out after ${ms / 1000} s`)), ms);
  try {
    return await work(AbortSignal.any([limit.signal, signal]));
  } catch (error) {
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    stop();
  }
}

/** The reason of a failed request for people: the innermost message, which is the specific one. Never empty. */
export function requestReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join('; ') || 'fetch failed';
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error ? requestReason(cause) : errorMessage(error) || 'fetch failed';
}
