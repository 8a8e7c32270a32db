/** Reads a document of another server: bounded size and time, redirects, a key that only its own origin receives. */
import { mergeHeaders } from '#server/account/identity.ts';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { readBounded } from '#server/net/read-bounded.ts';
import { createDocumentHosts, elsewhere, type DocumentHostsDeps } from './document-hosts.ts';

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
  bytes: Uint8Array<ArrayBuffer>;
}

/** Returns a reply of any status. Throws for a body above 16 MiB, refused redirects and failed connections. */
export const getDocument = (url: string, request: DocumentRequest, deps: DocumentHostsDeps): Promise<DocumentReply> =>
  readDocument(url, request, deps, replyOf);

/** Follows redirects and passes the last response to `read`, which reads its body or cancels it. */
export async function readDocument<T>(
  url: string,
  { headers, key, leavesOrigin, signal }: DocumentRequest,
  deps: DocumentHostsDeps,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const start = new URL(url);
  const hosts = createDocumentHosts(deps, signal);
  try {
    const first = leavesOrigin ? await hosts.start(start) : elsewhere(deps.fetch);
    let host = first;
    let target = start;
    for (let followed = 0; ; followed += 1) {
      const isOwner = key !== '' && target.origin === start.origin;
      const sent = isOwner ? mergeHeaders(headers, { authorization: `Bearer ${key}` }) : headers;
      const response = await host.fetch(target, { headers: sent, signal });
      const location = response.headers.get('location');
      if (!REDIRECTS.has(response.status) || location === null) return await read(response);
      await response.body?.cancel();
      if (followed === MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects`);
      if (!URL.canParse(location, target.href)) throw new Error('a redirect to an invalid address');
      const next = new URL(location, target);
      assertFollowed(start, target, next, leavesOrigin);
      if (next.origin === start.origin) host = first;
      else if (next.origin !== target.origin) host = await hosts.redirected(first, next);
      target = next;
    }
  } finally {
    await hosts.close();
  }
}

async function replyOf(response: Response): Promise<DocumentReply> {
  const { status, ok } = response;
  const bytes = readBounded(response, ok ? MAX_DOCUMENT_BYTES : MAX_FAILURE_BYTES);
  // The status of a failure is sufficient.
  return { status, bytes: ok ? await bytes : await bytes.catch(() => new Uint8Array()) };
}

function assertFollowed(start: URL, from: URL, to: URL, leavesOrigin: boolean): void {
  if (to.protocol !== 'https:' && to.protocol !== 'http:') throw new Error(`a redirect to ${to.protocol}`);
  if (to.origin === start.origin) return;
  if (!leavesOrigin) throw new Error(`a redirect to ${to.origin}`);
  // The document decides where the key is sent later.
  if (to.protocol === 'http:' && from.protocol === 'https:') throw new Error('a redirect from https to http');
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
