/** Providers on the wire: requests, items, and the summary of `GET /auth`. */
import * as z from 'zod';
import { afterFields } from '../after-fields.ts';
import { clientArray } from '../client-array.ts';
import { wireTypeSchema } from '../config/provider-record.ts';
import { count, nonEmpty } from '../scalars.ts';
import { PROVIDER_ID } from './provider-id.ts';

export const providerItemSchema = z
  .object({
    id: z.string(),
    type: z.string(),
    base_url: z.string().optional(),
    default_model: z.string().optional(),
    has_api_key: z.boolean(),
    status: z.enum(['connected', 'unconfigured', 'error']),
    models: z.array(z.string()),
  })
  .meta({ id: 'ProviderItem' });
export type ProviderItem = z.infer<typeof providerItemSchema>;

/** One provider with its stored key in plain text. */
export const providerDetailSchema = providerItemSchema
  .extend({ api_key: z.string().optional() })
  .meta({ id: 'ProviderDetail' });
export type ProviderDetail = z.infer<typeof providerDetailSchema>;

export const providerIdSchema = z.string().regex(PROVIDER_ID, {
  error: 'id must start with a letter or digit and may only contain letters, digits, "-", "_" and spaces',
});

const providerModelSchema = z.object({
  model: nonEmpty,
  max_context_size: z.int().min(1),
  display_name: nonEmpty.optional(),
  capabilities: clientArray(z.string()).optional(),
  max_output_size: z.int().min(1).optional(),
  support_efforts: clientArray(nonEmpty).optional(),
  adaptive_thinking: z.boolean().optional(),
});

const providerFields = {
  type: wireTypeSchema,
  api_key: z.string().optional(),
  base_url: z.string().trim().optional(),
  default_model: nonEmpty.optional(),
  models: clientArray(providerModelSchema, { min: 1 }),
};

interface ProviderForm {
  base_url?: string | undefined;
  default_model?: string | undefined;
  models: { model: string }[];
}

/** Validates fields against each other; all failures are reported, in this order. */
function checkForm({ base_url, default_model, models }: ProviderForm, context: z.RefinementCtx): void {
  const issue = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (base_url?.includes('${')) issue('base_url', 'base_url must not contain an environment variable placeholder');
  const names = models.map(({ model }) => model);
  const duplicate = names.find((name, index) => names.indexOf(name) < index);
  if (duplicate !== undefined) issue('models', `duplicate model: ${duplicate}`);
  if (default_model !== undefined && !names.includes(default_model)) {
    issue('default_model', 'default_model must be one of models[].model');
  }
}

const checkedForm = { ...afterFields };

export const createProviderSchema = z
  .object({ id: providerIdSchema, ...providerFields })
  .check(z.superRefine(checkForm, checkedForm));
export type CreateProvider = z.infer<typeof createProviderSchema>;

export const replaceProviderSchema = z
  .object({ new_id: providerIdSchema.optional(), ...providerFields })
  .check(z.superRefine(checkForm, checkedForm));
export type ReplaceProvider = z.infer<typeof replaceProviderSchema>;

export const authSummarySchema = z
  .object({
    models_ready: z.boolean(),
    providers_count: count,
    managed_provider: z
      .object({ name: z.string(), status: z.enum(['authenticated', 'expired', 'revoked', 'unauthenticated']) })
      .nullable(),
  })
  .meta({ id: 'AuthSummary' });
export type AuthSummary = z.infer<typeof authSummarySchema>;
