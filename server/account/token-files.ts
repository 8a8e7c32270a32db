/** Token files of logins: documents `credentials/<name>.json`, readable by their owner only. It only reads them. */
import * as z from 'zod';
import { tryParseJson } from '#server/text/json.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { TokenReply } from './oauth-client.ts';

const text = z.string().catch('');
const seconds = z.number().catch(0);
export const tokenSchema = z.object({
  /** Empty in a tombstone, which remains of a login whose grant was refused. */
  access_token: text,
  refresh_token: text,
  /** Unix seconds; 0: unknown. */
  expires_at: seconds,
  scope: text,
  token_type: text,
  /** Seconds, as issued. */
  expires_in: seconds,
});
export type StoredToken = z.output<typeof tokenSchema>;

/** Whether the grant of a stored token was refused. */
export const isTombstone = ({ access_token }: StoredToken): boolean => access_token === '';

/** The token of a reply that arrived at `nowMs`. */
export const storedTokenOf = (reply: TokenReply, nowMs: number): StoredToken => ({
  access_token: reply.access_token,
  refresh_token: reply.refresh_token,
  expires_at: Math.floor(nowMs / 1000 + reply.expires_in),
  scope: reply.scope ?? '',
  token_type: reply.token_type ?? '',
  expires_in: reply.expires_in,
});

export const tombstoneOf = ({ scope, token_type }: StoredToken): StoredToken => ({
  access_token: '',
  refresh_token: '',
  expires_at: 0,
  scope,
  token_type,
  expires_in: 0,
});

/** The key of a slot's document, by its name. */
export const tokenDocument = (name: string) => `credentials:${name}.json`;

/** Reads the file of a slot's name; undefined if it is missing or not a JSON object. Throws `persistence.failure`. */
export async function readToken(documents: Documents, name: string): Promise<StoredToken | undefined> {
  const content = await documents.getText(tokenDocument(name));
  return content === undefined ? undefined : tokenSchema.safeParse(tryParseJson(content)).data;
}
