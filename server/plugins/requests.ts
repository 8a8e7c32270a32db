/** Requests to the hosts of plugins and catalogs: a few redirects, never from https to http, one time limit for all. */
import { STATUS_CODES } from 'node:http';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { SERVER_VERSION } from '#server/version.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HEADERS = { 'user-agent': `service-code/${SERVER_VERSION}` };

export interface Requests {
  fetch: Fetch;
  /** Aborted when the server stops. */
  signal: AbortSignal;
}

/** `404 Not Found` of a response. */
export const statusText = ({ status }: Response): string => `${status} ${STATUS_CODES[status] ?? ''}`.trim();

export const redirects = ({ status }: Response): boolean => REDIRECTS.has(status);

/** Passes `work` a signal that aborts after `ms`; a failure after that is reported as the time-out. */
export async function limited<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(ms);
  try {
    return await work(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (timeout.aborted && !signal.aborted) throw new Error(`timed out after ${ms / 1000} s`, { cause: error });
    throw error;
  }
}

/** Sends one request and follows no redirect. */
export async function get(
  url: string,
  { fetch, signal }: Requests,
  headers: Record<string, string> = {},
): Promise<Response> {
  try {
    return await fetch(url, { headers: { ...HEADERS, ...headers }, redirect: 'manual', signal });
  } catch (error) {
    throw new Error(networkReason(error), { cause: error });
  }
}

/** Follows redirects. The last response may have any status. */
export async function getFollowing(start: string, requests: Requests): Promise<Response> {
  let url = start;
  for (let followed = 0; ; followed += 1) {
    const response = await get(url, requests);
    const location = response.headers.get('location');
    if (!redirects(response) || location === null) return response;
    await response.body?.cancel();
    if (followed === MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects`);
    url = redirectTarget(location, url);
  }
}

function redirectTarget(location: string, from: string): string {
  if (!URL.canParse(location, from)) throw new Error('a redirect to an invalid address');
  const target = new URL(location, from);
  if (target.protocol !== 'https:' && target.protocol !== 'http:') throw new Error(`a redirect to ${target.protocol}`);
  if (target.protocol === 'http:' && new URL(from).protocol === 'https:') {
    throw new Error('a redirect from https to http');
  }
  return target.href;
}

/** The reason of a request that failed. An error of several addresses has no message, only theirs. */
export function networkReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join('; ');
  const { cause } = error instanceof Error ? error : {};
  return error instanceof TypeError && cause instanceof Error ? errorMessage(cause) : errorMessage(error);
}
