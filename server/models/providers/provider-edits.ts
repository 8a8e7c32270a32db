/** Creates, replaces and deletes a provider in the tables of the configuration file. */
import { isTomlTable, subTable, tableOf, toTable } from '#server/config/document.ts';
import type { TomlTable, TomlValue } from '#server/config/document.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { CreateProvider, ReplaceProvider } from '#schema/rest/provider.ts';
import {
  assertFree,
  ownerOf,
  recordsOf,
  replaceModels,
  setRecords,
  textMember,
  wireNameOf,
  type Records,
} from './provider-tables.ts';

const providerNotFound = (id: string) => new ServiceError('provider.not_found', `provider ${id} does not exist`);
const providerExists = (id: string) => new ServiceError('provider.already_exists', `provider ${id} already exists`);

/** Returns the stored record. Throws `provider.not_found`. */
export function storedProvider(document: TomlTable, id: string): TomlTable {
  const record = subTable(document, 'providers')?.[id];
  if (record === undefined || !isTomlTable(record)) throw providerNotFound(id);
  return record;
}

function editable(document: TomlTable, id: string): TomlTable {
  const record = storedProvider(document, id);
  if (record.oauth !== undefined) {
    throw new ServiceError(
      'provider.oauth_managed',
      `provider ${id} is managed by OAuth login; use POST /oauth/logout instead`,
    );
  }
  return record;
}

const exists = (document: TomlTable, id: string) => subTable(document, 'providers')?.[id] !== undefined;

type ModelForm = CreateProvider['models'][number];

/** Members of an alias that the form replaces; a member without a value is removed. */
const FORM_MEMBERS = ['display_name', 'capabilities', 'max_output_size', 'support_efforts', 'adaptive_thinking'];

function modelRecord(provider: string, form: ModelForm, base: TomlValue | undefined): TomlTable {
  const kept = base !== undefined && isTomlTable(base) ? { ...base } : {};
  for (const member of [...FORM_MEMBERS, 'provider_id']) delete kept[member];
  return toTable({ ...kept, provider, ...form });
}

/** Adds the provider; the first one seeds `default_model`. Throws `provider.already_exists`, `validation.failed`. */
export function createProvider(document: TomlTable, form: CreateProvider): void {
  const { id, type, base_url, api_key, default_model, models } = form;
  if (exists(document, id)) throw providerExists(id);
  const aliases = models.map(({ model }) => `${id}/${model}`);
  assertFree(document, aliases, [id]);
  const record = toTable({
    type,
    base_url: base_url || undefined,
    api_key: api_key?.trim() ? api_key : undefined,
    default_model: default_model === undefined ? undefined : `${id}/${default_model}`,
  });
  setRecords(document, 'providers', [...recordsOf(document, 'providers'), [id, record]]);
  const others = recordsOf(document, 'models').filter(([, model]) => ownerOf(model) !== id);
  const own = models.map((model): [string, TomlValue] => [`${id}/${model.model}`, modelRecord(id, model, undefined)]);
  replaceModels(document, [...others, ...own], new Map());
  const seeded = textMember(document, 'default_model')?.trim();
  if (!seeded) document.default_model = `${id}/${default_model ?? models[0]?.model}`;
}

/**
 * Saves the whole form of a provider, under a new id if there is one; returns the id. Throws `provider.not_found`,
 * `provider.oauth_managed`, `provider.already_exists`, `validation.failed`.
 */
export function replaceProvider(document: TomlTable, id: string, form: ReplaceProvider): string {
  const { new_id: newId = id, type, api_key, base_url, default_model, models } = form;
  const before = editable(document, id);
  if (newId !== id && exists(document, newId)) throw providerExists(newId);
  assertFree(
    document,
    models.map(({ model }) => `${newId}/${model}`),
    [id, newId],
  );

  const record: TomlTable = tableOf(Object.entries({ ...before, type }));
  const put = (key: string, value: string | undefined) => {
    if (value) record[key] = value;
    else delete record[key];
  };
  if (api_key !== undefined) put('api_key', api_key.trim() ? api_key : undefined);
  put('base_url', base_url);
  put('default_model', default_model && `${newId}/${default_model}`);
  const providers = recordsOf(document, 'providers');
  setRecords(
    document,
    'providers',
    providers.map((entry) => (entry[0] === id ? [newId, record] : entry)),
  );

  const all = recordsOf(document, 'models');
  const mine = all.filter(([, model]) => ownerOf(model) === id);
  const rebuilt = models.map((model): [string, TomlValue] => {
    const base = mine.findLast(([, stored]) => wireNameOf(stored) === model.model)?.[1];
    return [`${newId}/${model.model}`, modelRecord(newId, model, base)];
  });
  // Inserts at the index of the provider's first alias, and removes aliases that a former provider of the new id left.
  const place = all.findIndex(([, model]) => ownerOf(model) === id);
  const others = (list: Records) => list.filter(([, model]) => ownerOf(model) !== id && ownerOf(model) !== newId);
  const at = place < 0 ? all.length : place;
  const moved = new Map<string, string>();
  if (newId !== id) {
    for (const [alias, stored] of mine) {
      const wire = wireNameOf(stored);
      if (models.some(({ model }) => model === wire)) moved.set(alias, `${newId}/${wire}`);
    }
    if (textMember(document, 'default_provider') === id) document.default_provider = newId;
    const target = moved.get(textMember(document, 'default_model')?.trim() ?? '');
    if (target !== undefined) document.default_model = target;
  }
  replaceModels(document, [...others(all.slice(0, at)), ...rebuilt, ...others(all.slice(at))], moved);
  return newId;
}

/** Removes the provider and its aliases, no default pointers. Throws `provider.not_found`, `provider.oauth_managed`. */
export function deleteProvider(document: TomlTable, id: string): void {
  editable(document, id);
  setRecords(
    document,
    'providers',
    recordsOf(document, 'providers').filter(([key]) => key !== id),
  );
  const owned = (record: TomlValue) =>
    textMember(record, 'provider') === id || textMember(record, 'provider_id') === id;
  replaceModels(
    document,
    recordsOf(document, 'models').filter(([, record]) => !owned(record)),
    new Map(),
  );
}
