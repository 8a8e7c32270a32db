/** Which origins may use the server from a browser, and the CORS headers for them. */
import { hostWithoutPort, isLoopbackName } from './hosts.ts';

const ALLOWED_METHODS = 'GET, POST, PUT, PATCH, DELETE, OPTIONS';
const DEFAULT_ALLOWED_HEADERS =
  'Content-Type, Authorization, X-Service-Client-Id, X-Service-Client-Name, X-Service-Client-Version, X-Service-Client-Ui-Mode';

/** Whether a request with that `Origin` may read answers, and may open a WebSocket. */
export function originAllowed(origin: string, host: string | undefined, listed: ReadonlySet<string>): boolean {
  if (listed.has(origin) || !URL.canParse(origin)) return true;
  const from = hostWithoutPort(new URL(origin).host);
  if (host === undefined) return false;
  const to = hostWithoutPort(host);
  return from === to || (isLoopbackName(from) && isLoopbackName(to));
}

/**
 * The rule without credentials, when nothing else stands between a web page and the machine: the very origin that the
 * request is addressed to, or a listed one. `null` is anybody's: every sandboxed frame has it.
 */
export function isOwnOrigin(origin: string, host: string | undefined, listed: ReadonlySet<string>): boolean {
  if (listed.has(origin)) return true;
  // The server itself speaks plain HTTP; who puts TLS in front of it lists that origin.
  const own = `http://${host ?? ''}`;
  // Nothing but a name and a port, or the URL would mean another host than the header does.
  if (!host || /[/\\?#@]/.test(host) || !URL.canParse(own) || !URL.canParse(origin)) return false;
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
