/** Callers as people read them; the page uses it, too, so it builds no schema. */
import type { Caller } from './caller.ts';

/** The name that the page sends. */
export const WEB_CLIENT = 'service-code-web';

/** A name for people: the client's name, else the first product of its user agent, with its address. */
export function callerText({ client_name, user_agent, remote_address }: Caller): string {
  const name = client_name ?? user_agent?.split(' ', 1)[0] ?? 'an unnamed client';
  return remote_address === undefined ? name : `${name} (${remote_address})`;
}
