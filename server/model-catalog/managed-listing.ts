/** The managed API's list of models, and the alias records that it declares. */
import * as z from 'zod';
import { asRecord, tryParseJson } from '#server/text/json.ts';
import { wellFormed } from '#server/text/well-formed.ts';
import { MAX_MODELS, type DeclaredModel } from './declared-model.ts';
import { costFields } from './price-fields.ts';

const text = z
  .string()
  .transform(wellFormed)
  .refine((value) => value.trim() !== '')
  .optional()
  .catch(undefined);
const flag = z.boolean().optional().catch(undefined);

const modelSchema = z.object({
  display_name: text,
  /** Whether thinking can be switched; takes precedence over `supports_reasoning`. */
  supports_thinking_type: z.enum(['only', 'no', 'both']).optional().catch(undefined),
  supports_reasoning: flag,
  supports_image_in: flag,
  supports_video_in: flag,
  supports_tool_use: flag,
  think_efforts: z
    .object({
      support: z.literal(true),
      valid_efforts: z.array(z.string().min(1)).optional().catch(undefined),
      default_effort: text,
    })
    .optional()
    .catch(undefined),
  protocol: z.literal('anthropic').optional().catch(undefined),
});
type ManagedModel = z.output<typeof modelSchema>;

const contextLength = z.union([
  z.int().positive(),
  z.string().trim().regex(/^\d+$/).transform(Number).pipe(z.int().positive()),
]);

/** A model of the list, with the facts that decide whether a default model thinks. */
export interface ListedModel extends DeclaredModel {
  thinkingType: ManagedModel['supports_thinking_type'];
  reasoning: boolean | undefined;
}

/**
 * Parses the body of `GET <base>/models`; `provider` is the prefix of the aliases. Throws for a body without a list,
 * and for the whole list if a model has no valid `context_length`: nothing may be removed because of a faulty reply.
 */
export function readManagedListing(body: string, provider: string): ListedModel[] {
  const data = asRecord(tryParseJson(body))?.data;
  if (!Array.isArray(data)) throw new Error('The list of models is not valid');
  if (data.length > MAX_MODELS) throw new Error(`The list has more than ${MAX_MODELS} models`);
  const models = new Map<string, ListedModel>();
  for (const entry of data) {
    const fields = asRecord(entry);
    const id = text.parse(fields?.id);
    if (!fields || id === undefined) continue;
    const context = contextLength.safeParse(fields.context_length);
    if (!context.success) throw new Error(`Model ${id.slice(0, 100)} of the list has no valid context_length`);
    // The first of several entries with one id.
    if (models.has(id)) continue;
    const model = modelSchema.parse(fields);
    models.set(id, {
      alias: `${provider}/${id}`,
      wireName: id,
      record: {
        provider,
        model: id,
        max_context_size: context.data,
        capabilities: capabilitiesOf(model),
        display_name: model.display_name,
        ...protocolOf(model),
        ...effortsOf(model),
        cost: costFields(fields.cost),
      },
      thinkingType: model.supports_thinking_type,
      reasoning: model.supports_reasoning,
    });
  }
  return [...models.values()];
}

const THINKING = { only: ['thinking', 'always_thinking'], both: ['thinking'], no: [] };

/** Undefined instead of an empty list. */
function capabilitiesOf(model: ManagedModel): string[] | undefined {
  const { supports_thinking_type: type, supports_reasoning: reasoning } = model;
  const capabilities = [
    ...(type === undefined ? (reasoning ? ['thinking'] : []) : THINKING[type]),
    ...(model.supports_image_in ? ['image_in'] : []),
    ...(model.supports_video_in ? ['video_in'] : []),
    ...(model.supports_tool_use === false ? [] : ['tool_use']),
  ];
  return capabilities.length > 0 ? capabilities : undefined;
}

/** Any other protocol is the native one, for which the record has none of these fields. */
function protocolOf(model: ManagedModel): { protocol?: string; beta_api?: true; adaptive_thinking?: true } {
  if (model.protocol !== 'anthropic') return {};
  const thinks = capabilitiesOf(model)?.includes('thinking') === true;
  return { protocol: 'anthropic', beta_api: true, ...(thinks && { adaptive_thinking: true }) };
}

function effortsOf({ think_efforts: efforts }: ManagedModel): { support_efforts?: string[]; default_effort?: string } {
  const { valid_efforts: listed = [], default_effort: standard } = efforts ?? {};
  return {
    ...(listed.length > 0 && { support_efforts: listed }),
    ...(standard !== undefined && { default_effort: standard }),
  };
}
