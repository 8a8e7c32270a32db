/** Tokens of result pages. Clients do not look into them. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { invalidField } from '#server/errors/service-error.ts';
import type { Place } from './order.ts';
import type { Query } from './query.ts';
import type { Frequencies } from './term-matches.ts';

const tokenSchema = z.object({
  /** Identify the query and the index for which the token is valid. */
  conditions: z.string(),
  generation: z.string(),
  after: z.object({ score: z.number(), time: z.number(), sessionId: z.string(), key: z.string() }),
  frequencies: z.object({ documents: z.number(), counts: z.array(z.number()) }),
});
export type PageToken = z.infer<typeof tokenSchema>;

/** Identifies what a token is valid for: all conditions of the query, not the size of a page. */
export function conditionsOf(query: Query, source: 'live' | 'index'): string {
  const { mode, text, op, sort, filters } = query;
  const conditions = JSON.stringify([mode, text, op, sort, source, Object.entries(filters).toSorted()]);
  return createHash('sha256').update(conditions).digest('base64url').slice(0, 22);
}

export function encodeToken(
  conditions: string,
  generation: string,
  { number: _number, ...after }: Place & { number?: number },
  frequencies: Frequencies,
): string {
  const text = JSON.stringify({ conditions, generation, after, frequencies });
  return Buffer.concat([checksum(text), Buffer.from(text)]).toString('base64url');
}

const CHECKSUM_BYTES = 8;

/** Detects damage; it is no protection against forgery, which gains nothing. */
const checksum = (text: string): Buffer => createHash('sha256').update(text).digest().subarray(0, CHECKSUM_BYTES);

/** Throws `validation.failed` for a damaged token, and for one of other conditions or another index. */
export function decodeToken(token: string, conditions: string, generation: string): PageToken {
  const decoded = parsed(token);
  if (!decoded) throw invalidField('page_token', 'page_token is malformed');
  if (decoded.conditions !== conditions) throw invalidField('page_token', 'page_token is of another query');
  if (decoded.generation !== generation) throw invalidField('page_token', 'page_token is of an older index');
  return decoded;
}

function parsed(token: string): PageToken | undefined {
  try {
    const bytes = Buffer.from(token, 'base64url');
    const text = bytes.subarray(CHECKSUM_BYTES).toString();
    const isWhole = bytes.toString('base64url') === token && bytes.subarray(0, CHECKSUM_BYTES).equals(checksum(text));
    return isWhole ? tokenSchema.parse(JSON.parse(text)) : undefined;
  } catch {
    return undefined;
  }
}
