/** Merges declared models into stored alias records: a refresh owns some fields, the user all others. */
import { isDeepStrictEqual } from 'node:util';
import { isTomlTable, subTable, tableOf, type TomlTable, type TomlValue } from '#server/config/document.ts';
import { ownerOf, wireNameOf, type Records } from '#server/models/providers/provider-tables.ts';

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

/** A model that a source declares: its alias, and its owned fields in the spelling of the file. */
export interface DeclaredModel {
  alias: string;
  wireName: string;
  record: TomlTable;
}

/** The result of a merge; the numbers count wire model ids. */
export interface MergedModels {
  /** All records of the table `models`, in its order; new ones last. */
  records: Records;
  differs: boolean;
  added: number;
  removed: number;
}

/**
 * Merges the models of a provider into the records of all models. Records of the provider under `<provider>/` that are
 * no longer declared are dropped; records under other keys were written by hand and are retained.
 */
export function mergeModels(
  stored: Records,
  provider: string,
  declared: readonly DeclaredModel[],
  fields: readonly string[],
): MergedModels {
  const wanted = new Map(declared.map((model) => [model.alias, model]));
  const before = new Set<string>();
  const records: Records = [];
  let differs = false;
  for (const [alias, record] of stored) {
    const model = wanted.get(alias);
    const generated = ownerOf(record) === provider && alias.startsWith(`${provider}/`);
    if (generated) before.add(wireNameOf(record) ?? '');
    if (!model) {
      if (generated) differs = true;
      else records.push([alias, record]);
      continue;
    }
    wanted.delete(alias);
    const merged = mergeRecord(record, model.record, fields);
    if (merged !== record) differs = true;
    records.push([alias, merged]);
  }
  for (const { alias, record } of wanted.values()) records.push([alias, record]);
  const after = new Set(declared.map(({ wireName }) => wireName));
  return {
    records,
    differs: differs || wanted.size > 0,
    added: [...after].filter((name) => !before.has(name)).length,
    removed: [...before].filter((name) => !after.has(name)).length,
  };
}

/** Returns `stored` with the owned fields of `declared`; `stored` itself if they are equal. */
export function mergeRecord(stored: TomlValue, declared: TomlTable, fields: readonly string[]): TomlValue {
  if (!isTomlTable(stored)) return declared;
  if (fields.every((field) => isSame(field, stored[field], declared[field]))) return stored;
  const merged = tableOf(Object.entries(stored));
  for (const field of fields) {
    const value = declared[field];
    if (value === undefined) delete merged[field];
    else if (!isSame(field, stored[field], value)) merged[field] = value;
  }
  return merged;
}

/** Capabilities are a set; their order in the file is the user's. */
function isSame(field: string, stored: TomlValue | undefined, declared: TomlValue | undefined): boolean {
  if (field === 'capabilities' && Array.isArray(stored) && Array.isArray(declared)) {
    const [before, after] = [new Set(stored), new Set(declared)];
    return before.size === after.size && [...after].every((capability) => before.has(capability));
  }
  return isDeepStrictEqual(stored, declared);
}

/** Returns new records with the `overrides` of the stored records under the same keys. */
export function withOverrides(declared: readonly DeclaredModel[], stored: TomlTable): Records {
  const models = subTable(stored, 'models') ?? tableOf<TomlValue>([]);
  return declared.map(({ alias, record }) => {
    const before = models[alias];
    const overrides = before !== undefined && isTomlTable(before) ? before.overrides : undefined;
    return [alias, overrides === undefined ? record : tableOf([...Object.entries(record), ['overrides', overrides]])];
  });
}
