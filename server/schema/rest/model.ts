/** Models: the stored record in wire spelling, and list items. */
import * as z from 'zod';
import { count } from '../scalars.ts';

export const oauthRefSchema = z.object({
  storage: z.enum(['file', 'keyring']),
  key: z.string().min(1),
  oauthHost: z.string().min(1).optional(),
});
export type OAuthRef = z.infer<typeof oauthRefSchema>;

const atLeastOne = z.int().min(1);

/** USD per million tokens. */
const price = z.number().min(0);
const costSchema = z.object({
  input: price,
  output: price,
  cacheRead: price.optional(),
  cacheWrite: price.optional(),
});
/** Prices of a model. */
export type Cost = z.infer<typeof costSchema>;

const tunable = {
  maxContextSize: atLeastOne.optional(),
  maxInputSize: atLeastOne.optional(),
  maxOutputSize: atLeastOne.optional(),
  capabilities: z.array(z.string()).optional(),
  displayName: z.string().optional(),
  reasoningKey: z.string().optional(),
  adaptiveThinking: z.boolean().optional(),
  supportEfforts: z.array(z.string()).optional(),
  defaultEffort: z.string().optional(),
  offEffort: z.string().optional(),
  /** A malformed one is treated as none, so that it does not make the record invalid. */
  cost: costSchema.optional().catch(undefined),
};

/** Loose: unknown members are stored and returned. */
export const modelRecordSchema = z
  .looseObject({
    provider: z.string().optional(),
    providerId: z.string().optional(),
    model: z.string().optional(),
    name: z.string().optional(),
    ...tunable,
    aliases: z.array(z.string()).optional(),
    baseUrl: z.string().optional(),
    apiKey: z.string().optional(),
    oauth: oauthRefSchema.optional(),
    protocol: z.enum(['openai', 'openai_responses', 'anthropic', 'google-genai']).optional(),
    betaApi: z.boolean().optional(),
    /** Validated when it is rendered, so that a malformed value does not make the record invalid. */
    upgrade: z.unknown().optional(),
    overrides: z.object(tunable).optional(),
  })
  .meta({ id: 'ModelRecord' });
export type ModelRecord = z.infer<typeof modelRecordSchema>;

export const modelUpgradeSchema = z.object({
  model: z.string(),
  migration_markdown: z.string(),
  retirement_at: z.string().optional(),
});

export const modelItemSchema = z
  .object({
    provider: z.string(),
    model: z.string(),
    display_name: z.string(),
    max_context_size: count,
    capabilities: z.array(z.string()).optional(),
    support_efforts: z.array(z.string()).optional(),
    default_effort: z.string().optional(),
    upgrade: modelUpgradeSchema.optional(),
  })
  .meta({ id: 'ModelItem' });
export type ModelItem = z.infer<typeof modelItemSchema>;
