/** Batches of session actions. */
import * as z from 'zod';
import { clientArray } from '../client-array.ts';
import { count, nonEmpty } from '../scalars.ts';

const MAX_IDS = 5_000;

/** Duplicates are removed before their number is checked; only the limit of the body bounds them. */
const ids = z.preprocess(
  (value) => (Array.isArray(value) ? [...new Set<unknown>(value)] : value),
  clientArray(nonEmpty, { min: 1, max: MAX_IDS }),
);

export const sessionBatchBody = z.object({ ids });

const itemResult = z.union([
  z.strictObject({ id: z.string(), ok: z.literal(true) }),
  z.strictObject({
    id: z.string(),
    ok: z.literal(false),
    error: z.object({ code: z.int(), message: z.string() }),
  }),
]);
export type ItemResult = z.infer<typeof itemResult>;

export const sessionBatchSchema = z.object({ results: z.array(itemResult), succeeded: count, failed: count });
export type SessionBatch = z.infer<typeof sessionBatchSchema>;
