/** The document of a custom registry: providers with their models. Reading is lenient; a faulty entry is skipped. */
import * as z from 'zod';
import { asRecord, isRecord, tryParseJson } from '#server/text/json.ts';
import { wellFormed } from '#server/text/well-formed.ts';
import { providerIdSchema } from '#schema/rest/provider.ts';
import type { DeclaredModel } from './field-ownership.ts';
import { MAX_MODELS } from './managed-listing.ts';
import { costFields, type CostFields } from './price-fields.ts';

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

/** A model of an entry. Members of other types are treated as absent. */
interface RegistryModel {
  id: string;
  name: string | undefined;
  toolCall: boolean | undefined;
  reasoning: boolean | undefined;
  context: number | undefined;
  output: number | undefined;
  modalities: { input: string[]; output: string[] } | undefined;
  efforts: string[] | undefined;
  defaultEffort: string | undefined;
  upgrade: { model: string; markdown: string; retirementAt: string | undefined } | undefined;
  cost: CostFields | undefined;
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? wellFormed(value) : undefined);
const flagOf = (value: unknown) => (typeof value === 'boolean' ? value : undefined);
const stringsOf = (value: unknown) =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string').map(wellFormed) : undefined;

function sizeOf(value: unknown): number | undefined {
  const size = typeof value === 'number' ? Math.floor(value) : 0;
  return Number.isSafeInteger(size) && size > 0 ? size : undefined;
}

/** Undefined for a model without an id. By hand: a schema of zod takes ten times as long for a thousand models. */
function readModel(value: unknown): RegistryModel | undefined {
  const model = asRecord(value);
  const id = textOf(model?.id);
  if (!model || id === undefined) return undefined;
  const limit = asRecord(model.limit);
  const modalities = asRecord(model.modalities);
  return {
    id,
    name: textOf(model.name),
    toolCall: flagOf(model.tool_call),
    reasoning: flagOf(model.reasoning),
    context: sizeOf(limit?.context),
    output: sizeOf(limit?.output),
    modalities: modalities && {
      input: stringsOf(modalities.input) ?? [],
      output: stringsOf(modalities.output) ?? [],
    },
    efforts: stringsOf(model.support_efforts),
    defaultEffort: textOf(model.default_effort),
    upgrade: readUpgrade(asRecord(model.upgrade)),
    cost: model.cost === undefined ? undefined : costFields(model.cost),
  };
}

function readUpgrade(upgrade: Record<string, unknown> | undefined): RegistryModel['upgrade'] {
  const model = textOf(upgrade?.model);
  const { migration_markdown: markdown, retirement_at: retirement } = upgrade ?? {};
  if (model === undefined || typeof markdown !== 'string') return undefined;
  if (retirement !== undefined && typeof retirement !== 'string') return undefined;
  return { model, markdown: wellFormed(markdown), retirementAt: textOf(retirement) };
}

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
    const model = readModel(value);
    return model && key !== '' ? [{ alias: `${provider}/${wellFormed(key)}`, model }] : [];
  });
  const aliases = new Map<string, string>();
  for (const { alias, model } of models) if (!aliases.has(model.id)) aliases.set(model.id, alias);
  return models.map(({ alias, model }) => ({ alias, wireName: model.id, record: recordOf(provider, model, aliases) }));
}

/** `aliases`: the alias of each wire model id that the entry lists. */
function recordOf(provider: string, model: RegistryModel, aliases: ReadonlyMap<string, string>) {
  return {
    provider,
    model: model.id,
    max_context_size: model.context ?? model.output ?? DEFAULT_CONTEXT_SIZE,
    capabilities: capabilitiesOf(model),
    display_name: model.name ?? model.id,
    support_efforts: model.efforts?.length ? model.efforts : undefined,
    default_effort: model.defaultEffort,
    upgrade: upgradeOf(model, aliases),
    cost: model.cost,
  };
}

/** Undefined instead of an empty list. A model that declares nothing is assumed to use tools. */
function capabilitiesOf({ toolCall, reasoning, modalities, efforts }: RegistryModel): string[] | undefined {
  if ([toolCall, reasoning, modalities, efforts].every((member) => member === undefined)) return ['tool_use'];
  const { input, output } = modalities ?? { input: [], output: [] };
  const capabilities = [
    ...(toolCall ? ['tool_use'] : []),
    ...(reasoning || efforts?.length ? ['thinking'] : []),
    ...(input.includes('image') ? ['image_in'] : []),
    ...(input.includes('video') ? ['video_in'] : []),
    ...(output.includes('image') ? ['image_out'] : []),
    ...(output.includes('audio') ? ['audio_out'] : []),
  ];
  return capabilities.length > 0 ? capabilities : undefined;
}

function upgradeOf({ id, upgrade }: RegistryModel, aliases: ReadonlyMap<string, string>) {
  if (!upgrade) return undefined;
  const { model, markdown, retirementAt } = upgrade;
  return {
    model: aliases.get(model) ?? model,
    // A function, because a replacement text may contain `$`.
    migration_markdown: markdown.replaceAll(/\{\{(from|to)\}\}/g, (_, end) => (end === 'from' ? id : model)),
    retirement_at: retirementAt,
  };
}
