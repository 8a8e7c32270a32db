/** Tokens of the next page: a position in the list, bound to the conditions of the query. */
import * as z from 'zod';
import { ServiceError } from '#server/errors/service-error.ts';
import { jsonText } from '#server/text/json-text.ts';
import type { ListKey } from '../index/listed-sessions.ts';

const VERSION = 1;

const tokenSchema = z.object({
  v: z.literal(VERSION),
  /** Fingerprint of the conditions. */
  f: z.string(),
  /** The last item's value of the sort's key, in ms, and its id: of the session, or of the group's workspace. */
  k: z.tuple([z.number(), z.string()]),
});

const BASE64URL = /^[A-Za-z0-9_-]+$/;

const mismatch = (reason: string) =>
  new ServiceError('page_token.mismatch', `page_token ${reason}; request the first page again`);

export function encodeToken({ key, id }: ListKey, fingerprint: string): string {
  const token: z.infer<typeof tokenSchema> = { v: VERSION, f: fingerprint, k: [key, id] };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** Returns the position of the previous page's last item. Throws `page_token.mismatch`. */
export function decodeToken(text: string, fingerprint: string): ListKey {
  const decoded = BASE64URL.test(text) ? jsonText.safeParse(Buffer.from(text, 'base64url').toString()) : undefined;
  if (!decoded?.success) throw mismatch('is corrupted');
  const token = tokenSchema.safeParse(decoded.data);
  if (!token.success) throw mismatch('is malformed or from an incompatible version');
  if (token.data.f !== fingerprint) throw mismatch('does not match the query conditions');
  const [key, id] = token.data.k;
  return { key, id };
}
