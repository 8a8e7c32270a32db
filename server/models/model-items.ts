/** Converts models to the items of `GET /models`. */
import type { EffectiveConfig } from '#server/config/effective.ts';
import { own } from '#server/config/effective.ts';
import { isTable } from '#server/config/document.ts';
import { modelUpgradeSchema } from '#schema/rest/model.ts';
import type { ModelItem, ModelRecord } from '#schema/rest/model.ts';
import { inferClaude } from './claude.ts';
import { effectiveRecord, hostOf, providerIdOf, wireNameOf } from './resolve.ts';
import { WIRE_TYPES, wireTypeOf } from './providers/wire-types.ts';

/** Includes records that cannot be used. */
export function modelItems(config: EffectiveConfig): ModelItem[] {
  return Object.entries(config.models).map(([alias, record]) => modelItem(alias, record, config));
}

export function modelItem(alias: string, stored: ModelRecord, config: EffectiveConfig): ModelItem {
  const base = effectiveRecord(stored);
  const named = providerIdOf(base, config);
  const provider = named === undefined ? undefined : own(config.providers, named);
  const type = wireTypeOf(provider ? provider.type : base.protocol);
  const wireName = wireNameOf(base);
  const protocol = base.protocol ?? (type && WIRE_TYPES[type].protocol) ?? '';
  const record = inferClaude(base, wireName ?? '', protocol, type ?? '');
  const upgrade = upgradeOf(record.upgrade);
  return {
    provider: named ?? hostOf(record.baseUrl?.trim() ?? '') ?? '',
    model: alias,
    display_name: record.displayName?.trim() || wireName || alias,
    max_context_size: record.maxContextSize ?? 0,
    ...(record.capabilities && { capabilities: record.capabilities }),
    ...(record.supportEfforts && { support_efforts: record.supportEfforts }),
    ...(record.defaultEffort !== undefined && { default_effort: record.defaultEffort }),
    ...(upgrade && { upgrade }),
  };
}

function upgradeOf(stored: unknown): ModelItem['upgrade'] {
  if (!isTable(stored)) return undefined;
  const { model, migrationMarkdown, retirementAt } = stored;
  const at = retirementAt instanceof Date ? retirementAt.toISOString() : retirementAt;
  return modelUpgradeSchema.safeParse({
    model,
    migration_markdown: migrationMarkdown,
    ...(at !== undefined && { retirement_at: at }),
  }).data;
}
