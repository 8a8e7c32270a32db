/** The public directory of models on the wire: its entries, and the import of one. */
import * as z from 'zod';
import { wireTypeSchema } from '../config/provider-record.ts';
import { count, nonEmpty } from '../scalars.ts';
import { providerIdSchema, providerItemSchema } from './provider.ts';

export const catalogModelSchema = z.object({
  id: z.string(),
  name: z.string().optional(),
  max_context_size: z.int().min(1),
  capabilities: z.array(z.string()).optional(),
  /** Whether it thinks. */
  reasoning: z.boolean(),
});
export type CatalogModel = z.infer<typeof catalogModelSchema>;

export const rejectReasonSchema = z.enum(['unknown-explicit-type', 'proprietary-sdk']);
export type RejectReason = z.infer<typeof rejectReasonSchema>;

export const catalogEntrySchema = z
  .object({
    /** The key in the directory's document. */
    id: z.string(),
    name: z.string(),
    /** Null exactly for a rejected entry. */
    wire_type: wireTypeSchema.nullable(),
    /** Null if it is needed, rejected, or the default of the protocol. */
    base_url: z.string().nullable(),
    /** Whether the wire type is a guess. */
    guessed: z.boolean(),
    /** Whether an import has to name an address. */
    needs_base_url: z.boolean(),
    rejected: z.boolean(),
    reject_reason: rejectReasonSchema.nullable(),
    /** The usual variable of its API key. */
    env_key: z.string().nullable(),
    /** The models that an import writes, in the order of the document. */
    models: z.array(catalogModelSchema),
  })
  .meta({ id: 'CatalogEntry' });
export type CatalogEntry = z.infer<typeof catalogEntrySchema>;

export const importCatalogSchema = z.object({
  catalog_id: nonEmpty,
  /** Id of the provider; default: the directory's. */
  id: providerIdSchema.optional(),
  api_key: z.string().optional(),
  base_url: z.string().optional(),
});
export type ImportCatalog = z.infer<typeof importCatalogSchema>;

export const importedProviderSchema = z.object({ provider: providerItemSchema, models_imported: count });
export type ImportedProvider = z.infer<typeof importedProviderSchema>;
