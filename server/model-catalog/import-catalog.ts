/** Imports a provider of the directory into the configuration. */
import { subTable, tableOf, toTable } from '#server/config/document.ts';
import type { TomlTable, TomlValue } from '#server/config/document.ts';
import type { Config } from '#server/config/config.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { Providers } from '#server/models/providers/providers.ts';
import type { WireType } from '#server/models/types.ts';
import {
  assertFree,
  ownerOf,
  recordsOf,
  replaceModels,
  setRecords,
  textMember,
  type Records,
} from '#server/models/providers/provider-tables.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { ImportCatalog, ImportedProvider } from '#schema/rest/catalog.ts';
import { providerIdSchema } from '#schema/rest/provider.ts';
import type { ModelDirectory } from './directory.ts';
import { withOverrides } from './field-ownership.ts';
import type { ImportableModel, ResolvedEntry } from './resolve-entry.ts';
import { addressFor, hasPlaceholder } from './wire-resolution.ts';

/** Members of a stored provider that an import retains. */
const RETAINED = ['custom_headers', 'env', 'default_model', 'model_source'];

/** The provider that an import writes. */
interface Import {
  id: string;
  type: WireType;
  /** Undefined: the default of the protocol. */
  baseUrl: string | undefined;
  /** Undefined: the stored one. */
  apiKey: string | undefined;
  models: readonly ImportableModel[];
}

export interface CatalogImportDeps {
  directory: Pick<ModelDirectory, 'resolved'>;
  config: Pick<Config, 'update'>;
  providers: Pick<Providers, 'get'>;
}

/**
 * Writes a provider of the directory with its models. Throws `catalog.unavailable`, `catalog.entry_not_found`,
 * `catalog.import_invalid`, `provider.oauth_managed`, `validation.failed` for an alias of another provider,
 * `persistence.failure`.
 */
export async function importCatalog(
  form: ImportCatalog,
  by: Caller | undefined,
  { directory, config, providers }: CatalogImportDeps,
): Promise<ImportedProvider> {
  const planned = planImport(await directory.resolved(form.catalog_id, form.base_url?.trim()), form);
  await config.update(({ document }) => writeImport(document, planned), by);
  const { api_key: _key, ...provider } = await providers.get(planned.id);
  return { provider, models_imported: planned.models.length };
}

/** Throws `catalog.import_invalid`. */
function planImport({ item, wire, models }: ResolvedEntry, form: ImportCatalog): Import {
  const refused = (problem: string) =>
    new ServiceError('catalog.import_invalid', `catalog entry ${item.id} ${problem}`);
  const because = (reason: string) => refused(`cannot be imported: ${reason}`);
  if ('rejected' in wire) throw because(wire.rejected);
  const given = form.base_url?.trim();
  if (given === '') throw because('empty-base-url');
  if (given !== undefined && hasPlaceholder(given)) throw because('placeholder-base-url');
  if (given === undefined && item.needs_base_url) throw refused('requires a base_url');
  if (models.length === 0) throw refused('has no importable models');
  const id = form.id ?? item.id;
  if (!providerIdSchema.safeParse(id).success) throw refused('requires an id: its own is not allowed for a provider');
  const baseUrl = given === undefined ? (item.base_url ?? undefined) : addressFor(wire.type, given);
  return { id, type: wire.type, baseUrl, apiKey: form.api_key, models };
}

/** Replaces the record and the aliases of the provider. Throws `provider.oauth_managed`, `validation.failed`. */
function writeImport(document: TomlTable, { id, type, baseUrl, apiKey, models }: Import): void {
  const before = subTable(subTable(document, 'providers') ?? tableOf<TomlValue>([]), id) ?? tableOf<TomlValue>([]);
  if (before.oauth !== undefined) {
    const message = `provider ${id} is managed by OAuth login; use POST /oauth/logout instead`;
    throw new ServiceError('provider.oauth_managed', message);
  }
  assertFree(
    document,
    models.map(({ item }) => `${id}/${item.id}`),
    [id],
  );

  const key = apiKey ?? textMember(before, 'api_key');
  const record = tableOf([
    ...Object.entries(toTable({ type, base_url: baseUrl, api_key: key?.trim() ? key : undefined })),
    ...RETAINED.flatMap((member): [string, TomlValue][] => {
      const value = before[member];
      return value === undefined ? [] : [[member, value]];
    }),
  ]);
  setRecords(document, 'providers', [...new Map(recordsOf(document, 'providers')).set(id, record)]);

  const declared = models.map(({ item, record: fields }) => ({
    alias: `${id}/${item.id}`,
    wireName: item.id,
    record: toTable({ provider: id, ...fields }),
  }));
  const rebuilt = new Map(withOverrides(declared, document));
  const retained = recordsOf(document, 'models').flatMap(([alias, stored]): Records => {
    const next = rebuilt.get(alias);
    if (next === undefined) return ownerOf(stored) === id ? [] : [[alias, stored]];
    rebuilt.delete(alias);
    return [[alias, next]];
  });
  replaceModels(document, [...retained, ...rebuilt], new Map());
  const [first] = declared;
  if (first && !textMember(document, 'default_model')?.trim()) document.default_model = first.alias;
}
