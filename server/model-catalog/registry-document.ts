/**
 * The document of a custom registry: providers with their models. Reading is lenient; a faulty entry is skipped. Runs in
 * a worker thread for a large document, so it imports no `zod`.
 */
import { finish, finishWithPauses, type Steps } from '#server/async/steps.ts';
import { asRecord, isRecord, tryParseJson } from '#server/text/json.ts';
import { wellFormed } from '#server/text/well-formed.ts';
import { PROVIDER_ID } from '#schema/rest/provider-id.ts';
import { MAX_MODELS, type DeclaredModel } from './declared-model.ts';
import { costFields, type CostFields } from './price-fields.ts';

/** For a model that declares neither its context nor its output. */
const DEFAULT_CONTEXT_SIZE = 131_072;
const TYPES = new Set(['anthropic', 'openai', 'openai_responses', 'native']);
/** Models of one text, which the main thread parses without a pause. */
const MODELS_PER_TEXT = 100;

/** A provider of the document. */
export interface RegistryProvider {
  id: string;
  name: string;
  type: string;
  baseUrl: string;
}

export interface RegistryEntry extends RegistryProvider {
  models: DeclaredModel[];
}

export interface RegistryDocument {
  /** In the order of the document; ids are unique. */
  entries: RegistryEntry[];
  /** Ids of the entries that were skipped because they are not valid; the key of an entry without an id. */
  skipped: ReadonlySet<string>;
}

/** A document as the thread returns it. */
export interface RegistryTexts {
  /** `texts`: lists of models as JSON. */
  entries: (RegistryProvider & { texts: string[] })[];
  skipped: string[];
}

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

/** Undefined for a model without an id. */
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

/** Parses a document. Throws with the reason for bytes that are not a JSON object, and for too many models. */
function* readSteps(bytes: Uint8Array): Steps<RegistryDocument> {
  const document = tryParseJson(new TextDecoder().decode(bytes));
  if (document === undefined) throw new Error('the reply is not JSON');
  if (!isRecord(document)) throw new Error('the reply is not a JSON object');
  const entries = new Map<string, RegistryEntry>();
  const skipped = new Set<string>();
  let count = 0;
  for (const [key, value] of Object.entries(document)) {
    yield;
    const found = readProvider(value);
    if (!found || entries.has(found.provider.id)) {
      const id = asRecord(value)?.id;
      skipped.add(typeof id === 'string' ? id : key);
      continue;
    }
    const models = Object.entries(found.models);
    count += models.length;
    if (count > MAX_MODELS) throw new Error(`it lists more than ${MAX_MODELS} models`);
    entries.set(found.provider.id, { ...found.provider, models: yield* modelSteps(found.provider.id, models) });
  }
  return { entries: [...entries.values()], skipped };
}

/** Undefined for a provider that cannot be imported. */
function readProvider(value: unknown): { provider: RegistryProvider; models: Record<string, unknown> } | undefined {
  const entry = asRecord(value);
  const { id, type, models } = entry ?? {};
  const name = textOf(entry?.name);
  const baseUrl = textOf(entry?.api);
  if (typeof id !== 'string' || !PROVIDER_ID.test(id) || name === undefined || baseUrl === undefined) return undefined;
  if (typeof type !== 'string' || !TYPES.has(type) || !isRecord(models)) return undefined;
  return { provider: { id, name, type, baseUrl }, models };
}

function* modelSteps(provider: string, table: [key: string, value: unknown][]): Steps<DeclaredModel[]> {
  const models: { alias: string; model: RegistryModel }[] = [];
  const aliases = new Map<string, string>();
  for (const [key, value] of table) {
    yield;
    const model = readModel(value);
    if (!model || key === '') continue;
    const alias = `${provider}/${wellFormed(key)}`;
    models.push({ alias, model });
    if (!aliases.has(model.id)) aliases.set(model.id, alias);
  }
  const declared: DeclaredModel[] = [];
  for (const { alias, model } of models) {
    yield;
    declared.push({ alias, wireName: model.id, record: recordOf(provider, model, aliases) });
  }
  return declared;
}

/** Reads a document in place, with pauses. Throws as `readSteps`. */
export const readRegistry = (bytes: Uint8Array): Promise<RegistryDocument> => finishWithPauses(readSteps(bytes));

/** Reads a document without a pause, in a thread. Throws as `readSteps`. */
export function registryTexts(bytes: Uint8Array): RegistryTexts {
  const { entries, skipped } = finish(readSteps(bytes));
  return {
    entries: entries.map(({ models, ...provider }) => ({
      ...provider,
      texts: Array.from({ length: Math.ceil(models.length / MODELS_PER_TEXT) }, (_, at) =>
        JSON.stringify(models.slice(at * MODELS_PER_TEXT, (at + 1) * MODELS_PER_TEXT)),
      ),
    })),
    skipped: [...skipped],
  };
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
