/** Origin rule and CORS headers (core.md §3.4). */
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

/** Headers of every answer to an allowed origin. `requested` is the preflight's `Access-Control-Request-Headers`. */
export function corsHeaders(origin: string, requested: string | undefined): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': ALLOWED_METHODS,
    'Access-Control-Allow-Headers': requested || DEFAULT_ALLOWED_HEADERS,
    Vary: 'Origin',
  };
}
