/** Origin rules for browsers, and the CORS headers of allowed origins. */
import type { Scheme } from '#server/net/forwarded.ts';
import { isLoopbackName, parseHost } from './hosts.ts';

const ALLOWED_METHODS = 'GET, POST, PUT, PATCH, DELETE, OPTIONS';
const DEFAULT_ALLOWED_HEADERS =
  'Content-Type, Authorization, X-Service-Client-Id, X-Service-Client-Name, X-Service-Client-Version, X-Service-Client-Ui-Mode';

/**
 * True if a request with that `Origin` may read responses and open a WebSocket. An origin without a host, such as
 * `null` of every sandboxed frame, must be listed.
 */
export function originAllowed(origin: string, host: string | undefined, listed: ReadonlySet<string>): boolean {
  if (listed.has(origin)) return true;
  if (host === undefined || !URL.canParse(origin)) return false;
  const from = parseHost(new URL(origin).host);
  const to = parseHost(host);
  if (from === undefined || to === undefined) return false;
  return from === to || (isLoopbackName(from) && isLoopbackName(to));
}

/**
 * Rule for a server without authentication, where no other check protects the machine from web pages: only the exact
 * origin that the request is addressed to, or a listed one. Every sandboxed frame has the origin `null`.
 */
export function isOwnOrigin(
  origin: string,
  { scheme, host }: { scheme: Scheme; host: string | undefined },
  listed: ReadonlySet<string>,
): boolean {
  if (listed.has(origin)) return true;
  const own = `${scheme}://${host ?? ''}`;
  // Any text that is not a name and a port could make the URL point to another host.
  if (host === undefined || parseHost(host) === undefined) return false;
  if (!URL.canParse(own) || !URL.canParse(origin)) return false;
  return new URL(origin).origin === new URL(own).origin;
}

/** Headers of responses to an allowed origin. `requested`: the preflight's `Access-Control-Request-Headers`. */
export function corsHeaders(origin: string, requested: string | undefined): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': ALLOWED_METHODS,
    'Access-Control-Allow-Headers': requested || DEFAULT_ALLOWED_HEADERS,
    Vary: 'Origin',
  };
}
