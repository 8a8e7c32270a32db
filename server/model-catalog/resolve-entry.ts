/** Resolves an entry of the directory: the item of the list, and the facts that an import writes. */
import type { TimeSlice } from '#server/async/yield.ts';
import type { CatalogEntry, CatalogModel } from '#schema/rest/catalog.ts';
import type { WireType } from '#server/models/types.ts';
import { readModel, type DirectoryEntry, type DirectoryModel } from './directory-entry.ts';
import { capabilitiesOf, effortsOf, isChatModel, pricesOf, sizesOf } from './model-facts.ts';
import {
  addressOf,
  overrideOf,
  wireOf,
  type EntryAddress,
  type EntryWire,
  type ModelOverride,
} from './wire-resolution.ts';

/** A model that an import writes; members in the spelling of the file. */
export interface ImportableModel {
  item: CatalogModel;
  record: Record<string, unknown>;
}

export interface ResolvedEntry {
  item: CatalogEntry;
  wire: EntryWire;
  models: ImportableModel[];
}

/**
 * `id` is the key in the document, `named` the address that the user names instead of the entry's. Yields to the event
 * loop, since an entry may have thousands of models.
 */
export async function resolveEntry(
  id: string,
  entry: DirectoryEntry,
  slice: TimeSlice,
  named?: string,
): Promise<ResolvedEntry> {
  const wire = wireOf(id, entry);
  const type = 'type' in wire ? wire.type : undefined;
  const address: EntryAddress = type === undefined ? { baseUrl: undefined } : addressOf(type, entry);
  const models: ImportableModel[] = [];
  const ids = new Set<string>();
  for (const value of entry.models) {
    if (slice.due()) await slice.rest();
    const model = readModel(value);
    const resolved = model && !ids.has(model.id) ? resolveModel(model, type, entry, named) : undefined;
    if (!resolved) continue;
    ids.add(resolved.item.id);
    models.push(resolved);
  }
  const item: CatalogEntry = {
    id,
    name: entry.name || id,
    wire_type: type ?? null,
    base_url: 'baseUrl' in address ? (address.baseUrl ?? null) : null,
    guessed: 'guessed' in wire && wire.guessed,
    needs_base_url: 'needed' in address,
    rejected: 'rejected' in wire,
    reject_reason: 'rejected' in wire ? wire.rejected : null,
    env_key: entry.env?.[0] || null,
    models: models.map((model) => model.item),
  };
  return { item, wire, models };
}

/** Undefined for a model that cannot be imported. */
function resolveModel(
  model: DirectoryModel,
  type: WireType | undefined,
  entry: DirectoryEntry,
  named: string | undefined,
): ImportableModel | undefined {
  const sizes = sizesOf(model);
  const override = overrideOf(model, type, entry, named);
  if (!sizes || !override || !isChatModel(model)) return undefined;
  const efforts = effortsOf(model);
  const capabilities = capabilitiesOf(model, efforts);
  const isForced =
    efforts.levels.length > 0 && efforts.off === undefined && !efforts.hasToggle && !canDisableThinking(type, override);
  return {
    item: {
      id: model.id,
      ...(model.name && { name: model.name }),
      max_context_size: sizes.max_context_size,
      ...(capabilities.length > 0 && { capabilities }),
      reasoning: capabilities.includes('thinking'),
    },
    record: {
      model: model.id,
      ...sizes,
      ...(capabilities.length > 0 && {
        capabilities: capabilities.map((name) => (name === 'thinking' && isForced ? 'always_thinking' : name)),
      }),
      ...(model.name && { display_name: model.name }),
      ...(override.protocol && { protocol: override.protocol }),
      ...(override.baseUrl !== undefined && { base_url: override.baseUrl }),
      ...reasoningKeyOf(model),
      ...(efforts.levels.length > 0 && { support_efforts: efforts.levels }),
      ...(efforts.off !== undefined && { off_effort: efforts.off }),
      ...pricesOf(model),
    },
  };
}

/** OpenAI's protocols can only name an effort; the others have a value that turns thinking off. */
const canDisableThinking = (type: WireType | undefined, { protocol }: ModelOverride): boolean =>
  protocol === 'anthropic' || (type !== 'openai' && type !== 'openai_responses');

function reasoningKeyOf({ interleaved }: DirectoryModel): { reasoning_key?: string } {
  return typeof interleaved === 'object' && interleaved.field ? { reasoning_key: interleaved.field } : {};
}
