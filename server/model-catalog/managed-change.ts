/** Applies a list of the managed API to the configuration file. */
import { isDeepStrictEqual } from 'node:util';
import { MANAGED_PROVIDER } from '#server/account/credential-slots.ts';
import type { ConfigDraft } from '#server/config/config.ts';
import { isTomlTable, subTable, tableOf, toTable, type TomlTable, type TomlValue } from '#server/config/document.ts';
import { ownerOf, textMember, type Records } from '#server/models/providers/provider-tables.ts';
import { writeModels, type Change } from './change.ts';
import { changedRecords, MANAGED_FIELDS, mergeModels, modelsOf, type MergedModels } from './field-ownership.ts';
import type { ListedModel } from './managed-listing.ts';

export type ModelCounts = Pick<MergedModels, 'added' | 'removed'>;

/**
 * Replaces the models of a provider by a list, and nothing else. The result is undefined if no model differs. An empty
 * list is ignored. Throws `validation.failed` if another provider owns one of the aliases.
 */
export function changeModels(
  { document }: ConfigDraft,
  provider: string,
  listed: readonly ListedModel[],
): Change<ModelCounts | undefined> {
  if (listed.length === 0) return { result: undefined };
  const models = modelsOf(document);
  const { changes, ...counts } = mergeModels(models, provider, listed, MANAGED_FIELDS);
  if (changes.size === 0) return { result: undefined };
  return { result: counts, write: (target) => writeModels(target, changedRecords(models, changes)) };
}

/**
 * Does the same for the provider of the managed login; a default model is chosen if there is none, and the web services
 * of the login are entered unless the user has configured others. `isStatic`: whether a refresh never changes the
 * models of a provider.
 */
export function changeManaged(
  { document }: ConfigDraft,
  listed: readonly ListedModel[],
  base: string,
  isStatic: (provider: string) => boolean,
): Change<ModelCounts | undefined> {
  const provider = subTable(document, 'providers')?.[MANAGED_PROVIDER];
  if (listed.length === 0 || provider === undefined || !isTomlTable(provider)) return { result: undefined };
  const models = modelsOf(document);
  const { changes, ...counts } = mergeModels(models, MANAGED_PROVIDER, listed, MANAGED_FIELDS);
  const records = changedRecords(models, changes);
  const pointers = { ...defaultsOf(document, records, listed, isStatic), ...servicesOf(document, provider, base) };
  const pointersDiffer = Object.entries(pointers).some(([key, value]) => !isDeepStrictEqual(document[key], value));
  const result = changes.size > 0 ? counts : undefined;
  if (!result && !pointersDiffer) return { result };
  return {
    result,
    write(target) {
      if (result) writeModels(target, records);
      for (const [key, value] of Object.entries(pointers)) target[key] = value;
    },
  };
}

/** The default model and whether it thinks. A default that exists is retained, regardless of its provider. */
function defaultsOf(
  document: TomlTable,
  records: Records,
  listed: readonly ListedModel[],
  isStatic: (provider: string) => boolean,
): Record<string, TomlValue> {
  const present = textMember(document, 'default_model')?.trim() ?? '';
  const kept = records.find(([alias, record]) => alias === present || aliasesOf(record).includes(present))?.[1];
  if (kept !== undefined) {
    const follows = !isStatic(ownerOf(kept) ?? '') && capabilitiesOf(kept).includes('always_thinking');
    return follows ? { thinking: withEnabled(document, true) } : {};
  }
  const [chosen] = listed;
  if (!chosen) return {};
  const stored = subTable(document, 'thinking')?.enabled;
  const enabled =
    { only: true, no: false, both: undefined }[chosen.thinkingType ?? 'both'] ?? stored ?? chosen.reasoning;
  return {
    default_model: chosen.alias,
    ...(typeof enabled === 'boolean' && { thinking: withEnabled(document, enabled) }),
  };
}

const withEnabled = (document: TomlTable, enabled: boolean): TomlTable =>
  tableOf<TomlValue>([...Object.entries(subTable(document, 'thinking') ?? {}), ['enabled', enabled]]);

const listMember = (record: TomlValue, member: string): TomlValue[] => {
  const value = isTomlTable(record) ? record[member] : undefined;
  return Array.isArray(value) ? value : [];
};
const aliasesOf = (record: TomlValue) => listMember(record, 'aliases');
const capabilitiesOf = (record: TomlValue) => {
  const overrides = isTomlTable(record) ? record.overrides : undefined;
  const own = overrides !== undefined && isTomlTable(overrides) && overrides.capabilities !== undefined;
  return listMember(own ? overrides : record, 'capabilities');
};

/** Search and fetch with the login; services that the user configured are retained. */
function servicesOf(document: TomlTable, { oauth }: TomlTable, base: string): Record<string, TomlValue> {
  const services = subTable(document, 'services');
  const wanted = (name: string) => {
    const stored = services?.[name];
    if (stored !== undefined && !isOfLogin(stored)) return stored;
    const before = stored !== undefined && isTomlTable(stored) ? stored : {};
    return toTable({ ...before, base_url: `${base}/${name}`, api_key: '', oauth });
  };
  const search = wanted('search');
  const fetch = wanted('fetch');
  return { services: tableOf([...Object.entries(services ?? {}), ['search', search], ['fetch', fetch]]) };
}

/** Whether an earlier refresh entered the service: its login may have moved to other addresses since. */
function isOfLogin(service: TomlValue): boolean {
  const oauth = isTomlTable(service) ? service.oauth : undefined;
  return textMember(oauth, 'key')?.startsWith('oauth/service-code') === true;
}
