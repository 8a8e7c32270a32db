/** Applies the document of a custom registry to the configuration file: a refresh or an import. */
import { isDeepStrictEqual } from 'node:util';
import type { ConfigDraft } from '#server/config/config.ts';
import { isTomlTable, tableOf, toTable, type TomlTable } from '#server/config/document.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import { recordsOf, setRecords } from '#server/models/providers/provider-tables.ts';
import type { RetiredDefault } from '#schema/rest/refresh.ts';
import { defaultAfter, writeModels, type Change, type ChangedProvider, type FailedProvider } from './change.ts';
import {
  aliasesOf,
  changedRecords,
  mergeModels,
  modelsOf,
  REGISTRY_FIELDS,
  type ModelChanges,
} from './field-ownership.ts';
import type { RegistryDocument, RegistryEntry } from './registry-document.ts';

/** A document and where it was read. */
export interface FetchedRegistry {
  url: string;
  /** The key with which it was read. */
  key: string;
  document: RegistryDocument;
}

export interface RegistryOutcome {
  /** In the order of the document; vanished providers last. */
  changed: ChangedProvider[];
  unchanged: string[];
  failed: FailedProvider[];
  retired?: RetiredDefault | undefined;
}

/** The members of a provider record that a registry determines. */
export const sourceFields = ({ type, baseUrl }: RegistryEntry, { url, key }: FetchedRegistry): TomlTable =>
  toTable({ type, base_url: baseUrl, api_key: key, source: { kind: 'apiJson', url, apiKey: key } });

/**
 * Refreshes the providers of a registry. `group` are those that the file has at present; with `only` no other provider
 * is changed, added or removed.
 */
export function refreshRegistry(
  { document }: ConfigDraft,
  fetched: FetchedRegistry,
  group: ReadonlySet<string>,
  only?: string,
): Change<RegistryOutcome> {
  const outcome: RegistryOutcome = { changed: [], unchanged: [], failed: [] };
  const providers = new Map(recordsOf(document, 'providers'));
  const refreshed: RegistryEntry[] = [];
  const models = modelsOf(document);
  const changes: ModelChanges = new Map();
  let differs = false;

  function refresh(entry: RegistryEntry): void {
    const { id, name } = entry;
    const stored = providers.get(id);
    if (stored !== undefined && !group.has(id)) {
      outcome.failed.push({ provider: id, reason: 'Another provider has the id of this entry of the registry' });
      return;
    }
    refreshed.push(entry);
    if (entry.models.length === 0) {
      if (stored !== undefined) outcome.unchanged.push(id);
      return;
    }
    const merged = mergeModels(models, id, entry.models, REGISTRY_FIELDS);
    const record = tableOf([
      ...Object.entries(stored !== undefined && isTomlTable(stored) ? stored : {}),
      ...Object.entries(sourceFields(entry, fetched)),
    ]);
    if (!isDeepStrictEqual(record, stored)) {
      providers.set(id, record);
      differs = true;
    }
    if (merged.changes.size === 0) {
      outcome.unchanged.push(id);
      return;
    }
    for (const [alias, change] of merged.changes) changes.set(alias, change);
    outcome.changed.push({ provider_id: id, provider_name: name, added: merged.added, removed: merged.removed });
  }

  const { entries, skipped } = fetched.document;
  for (const entry of entries) {
    if (only !== undefined && entry.id !== only) continue;
    try {
      refresh(entry);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      outcome.failed.push({ provider: entry.id, reason: errorMessage(error) });
    }
  }
  const listed = new Set(entries.map(({ id }) => id));
  for (const id of group) {
    if (listed.has(id) || (only !== undefined && id !== only)) continue;
    // A faulty document must not remove a provider.
    if (skipped.has(id)) outcome.failed.push({ provider: id, reason: 'Its entry in the registry is not valid' });
    else if (only !== undefined)
      outcome.failed.push({ provider: id, reason: 'The registry does not list it any more' });
    else {
      providers.delete(id);
      const aliases = aliasesOf(models, id);
      for (const alias of aliases) changes.set(alias, undefined);
      outcome.changed.push({ provider_id: id, provider_name: id, added: 0, removed: aliases.length });
      differs = true;
    }
  }
  if (!differs && changes.size === 0) return { result: outcome };
  const records = changedRecords(models, changes);
  const usable = new Set(refreshed.flatMap((entry) => entry.models.map(({ alias }) => alias)));
  const moved = defaultAfter(document, new Set(records.map(([alias]) => alias)), (alias) => usable.has(alias));
  outcome.retired = moved.retired;
  return {
    result: outcome,
    write(target) {
      setRecords(target, 'providers', [...providers]);
      writeModels(target, records, moved);
    },
  };
}
