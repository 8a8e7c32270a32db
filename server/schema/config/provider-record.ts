/** Stored providers, in wire spelling. */
import * as z from 'zod';
import { oauthRefSchema } from '../rest/model.ts';

export const wireTypeSchema = z.enum(['native', 'openai', 'openai_responses', 'anthropic', 'google-genai', 'vertexai']);

export const providerRecordSchema = z.object({
  /** Any string is loaded; models of an unknown type do not resolve. */
  type: z.string().optional(),
  baseUrl: z.string().optional(),
  apiKey: z.string().optional(),
  defaultModel: z.string().optional(),
  oauth: oauthRefSchema.optional(),
  env: z.record(z.string(), z.string()).optional(),
  customHeaders: z.record(z.string(), z.string()).optional(),
  source: z.record(z.string(), z.unknown()).optional(),
  modelSource: z.enum(['static', 'discover', 'oauth-catalog']).optional(),
});
export type ProviderRecord = z.infer<typeof providerRecordSchema>;
