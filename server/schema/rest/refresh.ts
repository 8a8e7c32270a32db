/** Refreshes of models and imports of registries on the wire. */
import * as z from 'zod';
import { count, nonEmpty } from '../scalars.ts';
import { providerItemSchema } from './provider.ts';

/** The result of a refresh; each provider of its scope is in exactly one of the three lists. */
export const refreshReportSchema = z
  .object({
    changed: z.array(
      z.object({
        provider_id: z.string(),
        provider_name: z.string(),
        /** Numbers of wire model ids; both 0 if only facts of models changed. */
        added: count,
        removed: count,
      }),
    ),
    /** Provider ids. */
    unchanged: z.array(z.string()),
    failed: z.array(z.object({ provider: z.string(), reason: nonEmpty })),
    /** Aliases: the default model that its registry has withdrawn, and its successor. */
    retired_default: z.object({ from: z.string(), to: z.string(), from_display_name: z.string() }).optional(),
  })
  .meta({ id: 'RefreshReport' });
export type RefreshReport = z.infer<typeof refreshReportSchema>;
export type RetiredDefault = NonNullable<RefreshReport['retired_default']>;

export const importRegistrySchema = z.object({ url: nonEmpty, api_key: z.string().optional() });
export type ImportRegistry = z.infer<typeof importRegistrySchema>;

export const importedRegistrySchema = z.object({
  /** In the order of the document. */
  providers: z.array(providerItemSchema),
  models_imported: count,
});
