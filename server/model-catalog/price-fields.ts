/** Prices of models in documents from outside. */
import { z } from 'zod';
import type { TomlTable } from '#server/config/document.ts';
import { toTable } from '#server/config/document.ts';

/** USD per million tokens. */
export const priceSchema = z.number().min(0);
const costSchema = z.object({
  input: priceSchema,
  output: priceSchema,
  cache_read: priceSchema.optional(),
  cache_write: priceSchema.optional(),
});

/** Returns the prices in the spelling of the file; undefined if they are malformed. */
export function costFields(cost: unknown): TomlTable | undefined {
  const { data } = costSchema.safeParse(cost);
  return data && toTable(data);
}
