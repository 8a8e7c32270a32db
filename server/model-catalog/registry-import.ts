/** Imports the providers of a custom registry into the configuration file. */
import type { ConfigDraft } from '#server/config/config.ts';
import { isTomlTable, subTable, type TomlValue } from '#server/config/document.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import {
  assertFree,
  ownerOf,
  recordsOf,
  setRecords,
  textMember,
  wireNameOf,
  type Records,
} from '#server/models/providers/provider-tables.ts';
import type { RetiredDefault } from '#schema/rest/refresh.ts';
import { defaultAfter, writeModels, type Change, type ChangedProvider, type DefaultChange } from './change.ts';
import { aliasesOf, modelsOf, withOverrides } from './field-ownership.ts';
import { sourceFields, type FetchedRegistry } from './registry-change.ts';

export interface ImportOutcome {
  /** Imported providers, in the order of the document. */
  ids: string[];
  modelsImported: number;
  changed: ChangedProvider[];
  retired?: RetiredDefault | undefined;
}

/**
 * Replaces the listed providers with all their aliases, and removes providers of the same URL that are not listed. A
 * first default model is chosen if there is none. Throws `provider.oauth_managed` for the first listed provider with a
 * login, and `validation.failed` if a provider outside of the import owns one of the aliases.
 */
export function importRegistry({ document }: ConfigDraft, fetched: FetchedRegistry): Change<ImportOutcome> {
  const { url } = fetched;
  const { entries } = fetched.document;
  const providers = new Map(recordsOf(document, 'providers'));
  const login = entries.find(({ id }) => isTable(providers.get(id))?.oauth !== undefined);
  if (login) {
    throw new ServiceError(
      'provider.oauth_managed',
      `provider ${login.id} is managed by OAuth login; use POST /oauth/logout instead`,
    );
  }
  const listed = new Set(entries.map(({ id }) => id));
  const ofUrl = (id: string) => {
    const record = isTable(providers.get(id));
    const source = record && subTable(record, 'source');
    return record?.oauth === undefined && source?.kind === 'apiJson' && source.url === url;
  };
  const vanished = [...providers.keys()].filter((id) => !listed.has(id) && ofUrl(id));
  const aliases = entries.flatMap(({ models }) => models.map(({ alias }) => alias));
  assertFree(document, aliases, [...listed, ...vanished]);

  const before = recordsOf(document, 'models');
  const imported = new Map(entries.flatMap(({ models }) => withOverrides(models, document)));
  const gone = new Set(vanished.flatMap((id) => aliasesOf(modelsOf(document), id)));
  const models: Records = before.flatMap(([alias, record]): Records => {
    const next = imported.get(alias);
    if (next === undefined) return gone.has(alias) || listed.has(ownerOf(record) ?? '') ? [] : [[alias, record]];
    imported.delete(alias);
    return [[alias, next]];
  });
  models.push(...imported);

  const known = new Set(entries.filter(({ id }) => ofUrl(id)).map(({ id }) => id));
  const moved = defaultOf(document, models, known, new Set(aliases));
  const seed = textMember(document, 'default_model')?.trim() ? undefined : entries[0]?.models[0]?.alias;
  return {
    result: {
      ids: [...listed],
      modelsImported: aliases.length,
      changed: entries.flatMap(({ id, name, models: declared }) => {
        const stored = new Set(
          before.flatMap(([, record]) => (ownerOf(record) === id ? [wireNameOf(record) ?? ''] : [])),
        );
        const wanted = new Set(declared.map(({ wireName }) => wireName));
        const added = [...wanted].filter((wire) => !stored.has(wire)).length;
        const removed = [...stored].filter((wire) => !wanted.has(wire)).length;
        return added + removed > 0 ? [{ provider_id: id, provider_name: name, added, removed }] : [];
      }),
      retired: moved.retired,
    },
    write(target) {
      for (const id of vanished) providers.delete(id);
      for (const entry of entries) providers.set(entry.id, sourceFields(entry, fetched));
      setRecords(target, 'providers', [...providers]);
      writeModels(target, models, moved);
      if (seed !== undefined) target.default_model = seed;
    },
  };
}

const isTable = (record: TomlValue | undefined) => (record !== undefined && isTomlTable(record) ? record : undefined);

/** A default of a provider that this registry listed before follows the upgrade; others may dangle, as after a delete. */
function defaultOf(
  document: ConfigDraft['document'],
  models: Records,
  known: ReadonlySet<string>,
  usable: ReadonlySet<string>,
): DefaultChange {
  const alias = textMember(document, 'default_model')?.trim() ?? '';
  const record = subTable(document, 'models')?.[alias];
  if (record === undefined || !known.has(ownerOf(record) ?? '')) return {};
  return defaultAfter(document, new Set(models.map(([key]) => key)), (target) => usable.has(target));
}
