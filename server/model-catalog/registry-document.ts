/** The document of a custom registry: providers with their models. Reading is lenient; a faulty entry is skipped. */
import { z } from 'zod';
import { toTable } from '#server/config/document.ts';
import { asRecord, isRecord, tryParseJson } from '#server/text/json.ts';
import { wellFormed } from '#server/text/well-formed.ts';
import { providerIdSchema } from '#schema/rest/provider.ts';
import type { DeclaredModel } from './field-ownership.ts';
import { MAX_MODELS } from './managed-listing.ts';
import { costFields } from './price-fields.ts';

/** For a model that declares neither its context nor its output. */
const DEFAULT_CONTEXT_SIZE = 131_072;

export interface RegistryEntry {
  id: string;
  name: string;
  type: string;
  baseUrl: string;
  models: DeclaredModel[];
}

export interface RegistryDocument {
  /** In the order of the document; ids are unique. */
  entries: RegistryEntry[];
  /** Ids of the entries that were skipped because they are not valid; the key of an entry without an id. */
  skipped: ReadonlySet<string>;
}

const text = z.string().transform(wellFormed);
const required = text.refine((value) => value !== '');

const entrySchema = z.object({
  id: providerIdSchema,
  name: required,
  api: required,
  type: z.enum(['anthropic', 'openai', 'openai_responses', 'native']),
  // Not a record of zod, which drops the key `__proto__`.
  models: z.custom<Record<string, unknown>>(isRecord),
});

const flag = z.boolean().optional().catch(undefined);
const strings = z.array(z.unknown()).transform((list) => list.filter((item) => typeof item === 'string'));
const limit = z.number().transform(Math.floor).pipe(z.int().positive()).optional().catch(undefined);

const modelSchema = z.object({
  id: required,
  name: required.optional().catch(undefined),
  tool_call: flag,
  reasoning: flag,
  limit: z.object({ context: limit, output: limit }).catch({}),
  modalities: z
    .object({ input: strings.optional().catch(undefined), output: strings.optional().catch(undefined) })
    .optional()
    .catch(undefined),
  support_efforts: strings.optional().catch(undefined),
  default_effort: required.optional().catch(undefined),
  upgrade: z
    .object({ model: required, migration_markdown: text, retirement_at: text.optional() })
    .optional()
    .catch(undefined),
});
type RegistryModel = z.output<typeof modelSchema>;

/** Throws with the reason for a text that is not a JSON object, and for a document without a usable entry. */
export function readRegistry(body: string): RegistryDocument {
  const document = tryParseJson(body);
  if (document === undefined) throw new Error('the reply is not JSON');
  if (!isRecord(document)) throw new Error('the reply is not a JSON object');
  const entries = new Map<string, RegistryEntry>();
  const skipped = new Set<string>();
  let count = 0;
  for (const [key, value] of Object.entries(document)) {
    const entry = entrySchema.safeParse(value).data;
    if (!entry || entries.has(entry.id)) {
      const id = asRecord(value)?.id;
      skipped.add(typeof id === 'string' ? id : key);
      continue;
    }
    count += Object.keys(entry.models).length;
    if (count > MAX_MODELS) throw new Error(`it lists more than ${MAX_MODELS} models`);
    entries.set(entry.id, {
      id: entry.id,
      name: entry.name,
      type: entry.type,
      baseUrl: entry.api,
      models: modelsOf(entry.id, entry.models),
    });
  }
  return { entries: [...entries.values()], skipped };
}

function modelsOf(provider: string, table: Record<string, unknown>): DeclaredModel[] {
  const models = Object.entries(table).flatMap(([key, value]) => {
    const model = modelSchema.safeParse(value).data;
    if (!model || key === '') return [];
    return [{ alias: `${provider}/${wellFormed(key)}`, model, cost: costFields(asRecord(value)?.cost) }];
  });
  const aliases = new Map(models.toReversed().map(({ alias, model }) => [model.id, alias]));
  return models.map(({ alias, model, cost }) => ({
    alias,
    wireName: model.id,
    record: toTable({
      provider,
      model: model.id,
      max_context_size: model.limit.context ?? model.limit.output ?? DEFAULT_CONTEXT_SIZE,
      capabilities: capabilitiesOf(model),
      display_name: model.name ?? model.id,
      support_efforts: model.support_efforts?.length ? model.support_efforts : undefined,
      default_effort: model.default_effort,
      upgrade: upgradeOf(model, aliases),
      cost,
    }),
  }));
}

/** Undefined instead of an empty list. A model that declares nothing is assumed to use tools. */
function capabilitiesOf(model: RegistryModel): string[] | undefined {
  const { tool_call, reasoning, modalities, support_efforts } = model;
  if ([tool_call, reasoning, modalities, support_efforts].every((member) => member === undefined)) return ['tool_use'];
  const { input = [], output = [] } = modalities ?? {};
  const capabilities = [
    ...(tool_call ? ['tool_use'] : []),
    ...(reasoning || support_efforts?.length ? ['thinking'] : []),
    ...(input.includes('image') ? ['image_in'] : []),
    ...(input.includes('video') ? ['video_in'] : []),
    ...(output.includes('image') ? ['image_out'] : []),
    ...(output.includes('audio') ? ['audio_out'] : []),
  ];
  return capabilities.length > 0 ? capabilities : undefined;
}

/** `aliases`: the alias of each wire model id that the entry lists. */
function upgradeOf({ id, upgrade }: RegistryModel, aliases: ReadonlyMap<string, string>) {
  if (!upgrade) return undefined;
  const { model, migration_markdown: markdown, retirement_at } = upgrade;
  return {
    model: aliases.get(model) ?? model,
    // A function, because a replacement text may contain `$`.
    migration_markdown: markdown.replaceAll(/\{\{(from|to)\}\}/g, (_, end) => (end === 'from' ? id : model)),
    retirement_at,
  };
}
