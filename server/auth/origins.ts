/** Which origins may use the server from a browser, and the CORS headers for them. */
import { isLoopbackName, parseHost } from './hosts.ts';

const ALLOWED_METHODS = 'GET, POST, PUT, PATCH, DELETE, OPTIONS';
const DEFAULT_ALLOWED_HEADERS =
  'Content-Type, Authorization, X-Service-Client-Id, X-Service-Client-Name, X-Service-Client-Version, X-Service-Client-Ui-Mode';

/**
 * Whether a request with that `Origin` may read answers, and may open a WebSocket. An origin that names no host, such as
 * the `null` of every sandboxed frame, must be listed.
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
 * The rule without credentials, when nothing else stands between a web page and the machine: the very origin that the
 * request is addressed to, or a listed one. Every sandboxed frame has the origin `null`.
 */
export function isOwnOrigin(origin: string, host: string | undefined, listed: ReadonlySet<string>): boolean {
  if (listed.has(origin)) return true;
  // The server itself speaks plain HTTP; who puts TLS in front of it lists that origin.
  const own = `http://${host ?? ''}`;
  // Another text than a name and a port could make a URL of another host.
  if (host === undefined || parseHost(host) === undefined) return false;
  if (!URL.canParse(own) || !URL.canParse(origin)) return false;
  return new URL(origin).origin === new URL(own).origin;
}

/** Headers of every answer to an allowed origin. `requested` is the preflight's `Access-Control-Request-Headers`. */
export function corsHeaders(origin: string, requested: string | undefined): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': ALLOWED_METHODS,
    'Access-Control-Allow-Headers': requested || DEFAULT_ALLOWED_HEADERS,
    Vary: 'Origin',
  };
}
