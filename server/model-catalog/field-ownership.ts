/** Merges declared models into stored alias records: a refresh owns some fields, the user all others. */
import {
  isTable,
  isTomlTable,
  subTable,
  tableOf,
  toTable,
  toToml,
  type TomlTable,
  type TomlValue,
} from '#server/config/document.ts';
import { memoizeByObject } from '#server/memo/by-object.ts';
import { aliasTaken, ownerOf, textMember, wireNameOf, type Records } from '#server/models/providers/provider-tables.ts';
import type { DeclaredModel } from './declared-model.ts';

/** Fields that a refresh overwrites, and removes when they are no longer declared. */
export const MANAGED_FIELDS = [
  'provider',
  'model',
  'max_context_size',
  'capabilities',
  'display_name',
  'protocol',
  'beta_api',
  'adaptive_thinking',
  'support_efforts',
  'default_effort',
  'cost',
] as const;
export const REGISTRY_FIELDS = [
  'provider',
  'model',
  'max_context_size',
  'capabilities',
  'display_name',
  'support_efforts',
  'default_effort',
  'upgrade',
  'cost',
] as const;

/** Changed records by alias; undefined for removed ones. */
export type ModelChanges = Map<string, TomlValue | undefined>;

/** The result of a merge; the numbers count wire model ids. */
export interface MergedModels {
  /** Empty if nothing differs. */
  changes: ModelChanges;
  added: number;
  removed: number;
}

/** The aliases of each provider, under either of the members that name it. Scanning all records takes a while. */
const aliasesByProvider = memoizeByObject((models: TomlTable): ReadonlyMap<string, string[]> => {
  const found = new Map<string, string[]>();
  for (const [alias, record] of Object.entries(models)) {
    const owners = new Set([textMember(record, 'provider'), textMember(record, 'provider_id')]);
    for (const owner of owners) {
      if (owner === undefined) continue;
      const aliases = found.get(owner);
      if (aliases) aliases.push(alias);
      else found.set(owner, [alias]);
    }
  }
  return found;
});

const NO_MODELS: TomlTable = tableOf([]);

/** The table of all models; it must not be changed. */
export const modelsOf = (document: TomlTable): TomlTable => subTable(document, 'models') ?? NO_MODELS;

/** All aliases of a provider. */
export const aliasesOf = (models: TomlTable, provider: string): readonly string[] =>
  aliasesByProvider(models).get(provider) ?? [];

/**
 * Merges the models of a provider into the table of all models. Records of the provider under `<provider>/` that are no
 * longer declared are removed; records under other keys were written by hand and are retained. Throws
 * `validation.failed` if another provider owns one of the aliases.
 */
export function mergeModels(
  models: TomlTable,
  provider: string,
  declared: readonly DeclaredModel[],
  fields: readonly string[],
): MergedModels {
  const changes: ModelChanges = new Map();
  const taken: string[] = [];
  const aliases = new Set<string>();
  for (const { alias, record } of declared) {
    const stored = models[alias];
    aliases.add(alias);
    if (stored !== undefined && ownerOf(stored) !== provider) taken.push(alias);
    const merged = stored === undefined ? toTable(record) : mergeRecord(stored, record, fields);
    if (merged !== stored) changes.set(alias, merged);
  }
  if (taken.length > 0) throw aliasTaken(taken);
  const before = aliasesOf(models, provider).filter(
    (alias) => alias.startsWith(`${provider}/`) && ownerOf(models[alias]) === provider,
  );
  for (const alias of before) if (!aliases.has(alias)) changes.set(alias, undefined);
  // Most refreshes change nothing.
  if (changes.size === 0) return { changes, added: 0, removed: 0 };
  const namesBefore = new Set(before.map((alias) => wireNameOf(models[alias]) ?? ''));
  const namesAfter = new Set(declared.map(({ wireName }) => wireName));
  const missingIn = (names: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...names].filter((name) => !others.has(name)).length;
  return { changes, added: missingIn(namesAfter, namesBefore), removed: missingIn(namesBefore, namesAfter) };
}

/** Returns all records with the changes applied, in the order of the table; new ones last. */
export function changedRecords(models: TomlTable, changes: ModelChanges): Records {
  const records: Records = [];
  for (const [alias, record] of Object.entries(models)) {
    const next = changes.has(alias) ? changes.get(alias) : record;
    if (next !== undefined) records.push([alias, next]);
  }
  for (const [alias, record] of changes) {
    if (record !== undefined && models[alias] === undefined) records.push([alias, record]);
  }
  return records;
}

/** Returns `stored` with the owned fields of `declared`; `stored` itself if they are equal. */
function mergeRecord(stored: TomlValue, declared: DeclaredModel['record'], fields: readonly string[]): TomlValue {
  if (!isTomlTable(stored)) return toTable(declared);
  if (fields.every((field) => isSame(field, stored[field], declared[field]))) return stored;
  const merged = tableOf(Object.entries(stored));
  for (const field of fields) {
    const value = declared[field];
    if (value === undefined) delete merged[field];
    else if (!isSame(field, stored[field], value)) merged[field] = toToml(value);
  }
  return merged;
}

/** Capabilities are a set; their order in the file is the user's. */
function isSame(field: string, stored: TomlValue | undefined, declared: unknown): boolean {
  if (field === 'capabilities' && Array.isArray(stored) && Array.isArray(declared)) {
    return stored.every((item) => declared.includes(item)) && declared.every((item) => stored.includes(item));
  }
  return isSameValue(stored, declared);
}

/** Compares values regardless of prototypes, which tables of TOML lack; a member without a value is absent. */
function isSameValue(stored: unknown, declared: unknown): boolean {
  if (stored === declared) return true;
  if (Array.isArray(stored) && Array.isArray(declared)) {
    return stored.length === declared.length && stored.every((item, at) => isSameValue(item, declared[at]));
  }
  if (!isTable(stored) || !isTable(declared)) return false;
  return Object.keys({ ...stored, ...declared }).every((key) => isSameValue(stored[key], declared[key]));
}

/** Returns new records with the `overrides` of the stored records under the same keys. */
export function withOverrides(declared: readonly DeclaredModel[], stored: TomlTable): Records {
  const models = modelsOf(stored);
  return declared.map(({ alias, record }) => {
    const before = models[alias];
    const overrides = before !== undefined && isTomlTable(before) ? before.overrides : undefined;
    return [alias, toTable({ ...record, overrides })];
  });
}
