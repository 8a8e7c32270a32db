/** Which client sent a request. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { plainAddress } from '#server/text/plain-address.ts';
import { CALLER_NAME_CHARS, USER_AGENT_CHARS, type Caller } from '#schema/rest/caller.ts';

/** Response header with the id that the client is recorded with. */
export const PUBLIC_ID_HEADER = 'x-service-client-public-id';

/** Hexadecimal digits of the hash; too many to find another header with the same ones. */
const PUBLIC_ID_DIGITS = 32;

/** Controls, and characters that reorder or hide text: a name is shown to people. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function shown(header: string | string[] | undefined, most: number): string | undefined {
  const first = Array.isArray(header) ? header[0] : header;
  return first?.replace(UNSEEN, '').trim().slice(0, most).trim() || undefined;
}

/**
 * The id that is recorded and published. A hash: programs that read a journal or a transcript must not be able to send the
 * header of another client.
 */
export function publicIdOf(headers: IncomingHttpHeaders): string | undefined {
  const header = headers['x-service-client-id'];
  const id = Array.isArray(header) ? header[0] : header;
  return id ? createHash('sha256').update(id).digest('hex').slice(0, PUBLIC_ID_DIGITS) : undefined;
}

/** The members that the request has; `address` is that of the client, which the guard decides about. */
export function callerOf(headers: IncomingHttpHeaders, address: string | undefined): Caller {
  const members = {
    client_name: shown(headers['x-service-client-name'], CALLER_NAME_CHARS),
    client_id: publicIdOf(headers),
    user_agent: shown(headers['user-agent'], USER_AGENT_CHARS),
    remote_address: address === undefined ? undefined : plainAddress(address),
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
