/** Successors of retired models, by the `upgrade` members of the records that named them. */
import { isTable } from '#server/config/document.ts';
import type { StoredConfig } from '#server/config/stored.ts';

const MAX_HOPS = 8;

/**
 * Follows the upgrades of a model's record and of its successors until one is usable; at most 8. `models` are the
 * records before they were removed, in either spelling. An upgrade names an alias, or the wire id of a model that the
 * registry did not list then.
 */
export function successorOf(
  models: Readonly<Record<string, unknown>>,
  from: string,
  isUsable: (alias: string) => boolean,
): string | undefined {
  const seen = new Set<string>();
  let alias: string | undefined = from;
  for (let hop = 0; hop < MAX_HOPS && alias !== undefined; hop += 1) {
    seen.add(alias);
    const candidates = targetsOf(models[alias]);
    const usable = candidates.find(isUsable);
    if (usable !== undefined) return usable;
    alias = candidates.find((target) => !seen.has(target) && models[target] !== undefined);
  }
  return undefined;
}

function targetsOf(record: unknown): string[] {
  const { provider, upgrade } = isTable(record) ? record : {};
  const target = isTable(upgrade) ? upgrade.model : undefined;
  if (typeof provider !== 'string' || typeof target !== 'string' || target === '') return [];
  const prefix = `${provider}/`;
  return [...(target.startsWith(prefix) ? [target] : []), prefix + target];
}

/**
 * Recognizes a retired default in a change of the configuration: the default model was removed and replaced by its
 * successor.
 */
export function retiredDefault(before: StoredConfig, after: StoredConfig): { from: string; to: string } | undefined {
  const from = before.defaultModel?.trim();
  const to = after.defaultModel?.trim();
  if (!from || !to || from === to) return undefined;
  const existed = Object.hasOwn(before.models ?? {}, from);
  const exists = Object.hasOwn(after.models ?? {}, from);
  if (!existed || exists || !Object.hasOwn(after.models ?? {}, to)) return undefined;
  return successorOf(before.models ?? {}, from, (alias) => alias === to) === to ? { from, to } : undefined;
}
