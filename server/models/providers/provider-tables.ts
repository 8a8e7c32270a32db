/** Reads and edits the tables of providers and models in the configuration file. */
import { isTomlTable, subTable, tableOf } from '#server/config/document.ts';
import type { TomlTable, TomlValue } from '#server/config/document.ts';
import { ServiceError } from '#server/errors/service-error.ts';

/** Entries of a table, in file order. */
export type Records = [id: string, record: TomlValue][];

/** The first of these members that is a string. */
export function textMember(table: TomlValue | undefined, ...names: string[]): string | undefined {
  if (table === undefined || !isTomlTable(table)) return undefined;
  for (const name of names) {
    const value = table[name];
    if (typeof value === 'string') return value;
  }
  return undefined;
}

/** The id of the provider that a model record names. */
export const ownerOf = (record: TomlValue | undefined): string | undefined =>
  textMember(record, 'provider_id', 'provider');
/** The model's name at its provider. */
export const wireNameOf = (record: TomlValue | undefined): string | undefined => textMember(record, 'name', 'model');

export const recordsOf = (document: TomlTable, section: string): Records =>
  Object.entries(subTable(document, section) ?? {});

/** Replaces the section; an empty one is removed. */
export function setRecords(document: TomlTable, section: string, records: Records): void {
  if (records.length > 0) document[section] = tableOf(records);
  else delete document[section];
}

/** Throws `validation.failed` when a provider other than `owners` owns one of the aliases. */
export function assertFree(document: TomlTable, aliases: readonly string[], owners: readonly string[]): void {
  const wanted = new Set(aliases);
  const taken = recordsOf(document, 'models')
    .filter(([alias, record]) => wanted.has(alias) && !owners.includes(ownerOf(record) ?? ''))
    .map(([alias]) => alias);
  if (taken.length > 0) throw aliasTaken(taken);
}

export const aliasTaken = (aliases: readonly string[]): ServiceError =>
  new ServiceError('validation.failed', `model alias key already owned by another provider: ${aliases.join(', ')}`);

/** Writes the alias table and updates the pool for subagents: renamed aliases are mapped, removed ones are dropped. */
export function replaceModels(document: TomlTable, models: Records, moved: ReadonlyMap<string, string>): void {
  const before = new Set(recordsOf(document, 'models').map(([alias]) => alias));
  setRecords(document, 'models', models);
  const pool = subTable(document, 'secondary_model');
  if (!pool) return;
  const now = new Set(models.map(([alias]) => alias));
  const follow = (alias: string): string | undefined => {
    const target = moved.get(alias) ?? alias;
    // Aliases that never existed are left unchanged.
    return now.has(target) || !before.has(alias) ? target : undefined;
  };
  for (const member of ['default_model', 'model']) {
    const alias = textMember(pool, member);
    if (alias === undefined) continue;
    const target = follow(alias);
    if (target === undefined) {
      delete document.secondary_model;
      return;
    }
    pool[member] = target;
  }
  const hints = subTable(pool, 'models');
  if (!hints) return;
  const kept = Object.entries(hints).flatMap(([alias, hint]): Records => {
    const target = follow(alias);
    return target === undefined ? [] : [[target, hint]];
  });
  setRecords(pool, 'models', kept);
}
