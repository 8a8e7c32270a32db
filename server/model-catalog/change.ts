/** Changes of the configuration file that are computed first and written only if they differ from it. */
import type { RefreshReport, RetiredDefault } from '#schema/rest/refresh.ts';
import type { Config, ConfigDraft } from '#server/config/config.ts';
import { isTomlTable, subTable, tableOf, type TomlTable, type TomlValue } from '#server/config/document.ts';
import {
  recordsOf,
  replaceModels,
  setRecords,
  textMember,
  type Records,
} from '#server/models/providers/provider-tables.ts';
import type { Caller } from '#schema/rest/caller.ts';
import { successorOf } from './retired-default.ts';

export interface Change<Result> {
  result: Result;
  /** Edits the document; undefined if nothing differs. */
  write?: ((document: TomlTable) => void) | undefined;
}

export type ChangedProvider = RefreshReport['changed'][number];
export type FailedProvider = RefreshReport['failed'][number];

/**
 * Computes a change from the present file and writes it if it differs; under the lock it is computed again from the
 * content of that moment. Throws errors of `compute` and `persistence.failure`.
 */
export async function applyChange<Result>(
  config: Pick<Config, 'draft' | 'update'>,
  compute: (draft: ConfigDraft) => Change<Result>,
  by: Caller | undefined,
): Promise<Result> {
  const { result, write } = compute(config.draft());
  if (!write) return result;
  return config.update((draft) => {
    const change = compute(draft);
    change.write?.(draft.document);
    return change.result;
  }, by);
}

/** The default model of a document after models were removed. */
export interface DefaultChange {
  /** Undefined: the default stays. Null: it is cleared. */
  to?: string | null;
  retired?: RetiredDefault;
}

/**
 * Decides what becomes of a default model whose record is removed: its successor replaces it if `isUsable`, else it is
 * cleared. `remaining` are the records that stay.
 */
export function defaultAfter(
  document: TomlTable,
  remaining: ReadonlySet<string>,
  isUsable: (alias: string) => boolean,
): DefaultChange {
  const from = textMember(document, 'default_model')?.trim();
  const models = subTable(document, 'models');
  const record = from && models?.[from];
  if (!from || !record || remaining.has(from)) return {};
  const to = successorOf(models, from, isUsable);
  if (to === undefined) return { to: null };
  return { to, retired: { from, to, from_display_name: displayNameOf(record) ?? from } };
}

const displayNameOf = (record: TomlValue): string | undefined =>
  textMember(isTomlTable(record) ? record.overrides : undefined, 'display_name') ?? textMember(record, 'display_name');

/** Writes the records of all models; pool entries and pointers to a retired default follow it to its successor. */
export function writeModels(document: TomlTable, models: Records, { to, retired }: DefaultChange = {}): void {
  replaceModels(document, models, new Map(retired ? [[retired.from, retired.to]] : []));
  if (to === null) {
    delete document.default_model;
    delete document.thinking;
  }
  if (typeof to === 'string') document.default_model = to;
  if (!retired) return;
  const providers = recordsOf(document, 'providers').map(([id, record]): [string, TomlValue] => {
    const points = isTomlTable(record) && record.default_model === retired.from;
    return [id, points ? tableOf([...Object.entries(record), ['default_model', retired.to]]) : record];
  });
  setRecords(document, 'providers', providers);
}
