import type { IncomingMessage } from 'node:http';

/**
 * Removes `Authorization` from a request's headers: a `proxy` rule, or a handler that passes headers on, would send the
 * token away. Also where none is checked: clients may send the home's token, which other servers of the home accept.
 */
export function removeToken({ headers, rawHeaders }: IncomingMessage): void {
  delete headers.authorization;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (rawHeaders[at]?.toLowerCase() === 'authorization') rawHeaders.splice(at, 2);
  }
}
