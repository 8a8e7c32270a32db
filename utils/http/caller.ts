/** Which client sent a request. */
import type { IncomingMessage } from 'node:http';
import { CALLER_NAME_CHARS, USER_AGENT_CHARS, type Caller } from '#schema/caller.ts';

/** Controls, and characters that reorder or hide text: a name is shown to people. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function shown(header: string | string[] | undefined, most: number): string | undefined {
  const first = Array.isArray(header) ? header[0] : header;
  return first?.replace(UNSEEN, '').trim().slice(0, most).trim() || undefined;
}

/** The members that the request has; the address is that of the TCP peer, as the guard sees it. */
export function callerOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): Caller {
  const members = {
    client_name: shown(headers['x-service-client-name'], CALLER_NAME_CHARS),
    client_id: shown(headers['x-service-client-id'], CALLER_NAME_CHARS),
    user_agent: shown(headers['user-agent'], USER_AGENT_CHARS),
    remote_address: socket.remoteAddress,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
