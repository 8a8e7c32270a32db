/** Summaries of providers, of their models, and of refreshes. */
import type { Model, ProviderItem, RefreshReport } from '@service-code/client';
import { t } from '../../messages/messages.ts';
import type { RowTone } from '../../render/row-tone.ts';

/** The provider that variables of the environment define. */
const ENVIRONMENT = '__service_env__';

export interface ShownProvider {
  id: string;
  name: string;
  tone: RowTone;
  state: string;
  /** Protocol and address. */
  address: string;
  models: readonly Model[];
  /** Whether it can be removed here. */
  isRemovable: boolean;
  /** Whether a login created it. */
  isManaged: boolean;
}

interface Known {
  models: readonly Model[];
  /** The id of the provider that a login created. */
  managed: string | undefined;
}

/** In the order of the list. */
export function shownProviders(providers: readonly ProviderItem[], { models, managed }: Known): ShownProvider[] {
  const byAlias = new Map(models.map((model) => [model.model, model]));
  return providers.map((provider) => {
    const isManaged = provider.id === managed;
    const isReady = provider.status === 'connected';
    return {
      id: provider.id,
      name: provider.id === ENVIRONMENT ? t('providers.environment') : isManaged ? t('shell.product') : provider.id,
      tone: isReady ? 'good' : 'attention',
      state: t(isReady ? 'providers.ready' : isManaged ? 'providers.loggedOut' : 'providers.noKey'),
      address: [provider.type, provider.base_url].filter(Boolean).join(' · '),
      models: provider.models.flatMap((alias) => byAlias.get(alias) ?? []),
      isRemovable: !isManaged && provider.id !== ENVIRONMENT,
      isManaged,
    };
  });
}

export interface RetiringModel {
  alias: string;
  name: string;
  /** The successor: an alias, or a name that the provider does not list. */
  successor: string;
  successorName: string;
  /** Whether the successor can be selected. */
  isListed: boolean;
  isDefault: boolean;
  /** The day of the retirement, if one is named. */
  day: string | undefined;
  /** Why, and how to change; Markdown of the registry. */
  reason: string;
}

const dayOf = (time: string | undefined) =>
  time === undefined || Number.isNaN(Date.parse(time)) ? undefined : new Date(time).toISOString().slice(0, 10);

/** The models that name a successor; the earliest retirement first, those without a date last. */
export function retiringModels(models: readonly Model[], defaultModel: string | undefined): RetiringModel[] {
  const retiring = models.flatMap(({ model: alias, display_name: name, upgrade }): RetiringModel[] => {
    if (!upgrade) return [];
    const listed = models.find(({ model }) => model === upgrade.model);
    return [
      {
        alias,
        name,
        successor: upgrade.model,
        successorName: listed?.display_name ?? upgrade.model,
        isListed: listed !== undefined,
        isDefault: alias === defaultModel,
        day: dayOf(upgrade.retirement_at),
        reason: upgrade.migration_markdown,
      },
    ];
  });
  return retiring.toSorted((a, b) => ((a.day ?? '~') < (b.day ?? '~') ? -1 : (a.day ?? '~') > (b.day ?? '~') ? 1 : 0));
}

export interface ReportLine {
  text: string;
  isFailure: boolean;
}

/** A refresh in lines: changes, failures, then the number of unchanged providers. */
export function reportLines({ changed, unchanged, failed, retired_default: retired }: RefreshReport): ReportLine[] {
  const lines = changed.map(({ provider_name: name, added, removed }) => ({
    text: `${name}: ${changeText(added, removed)}`,
    isFailure: false,
  }));
  if (retired) lines.push({ text: retiredText(retired), isFailure: false });
  for (const { provider, reason } of failed) lines.push({ text: `${provider}: ${reason}`, isFailure: true });
  if (unchanged.length > 0)
    lines.push({ text: t('providers.unchanged', { count: unchanged.length }), isFailure: false });
  return lines.length > 0 ? lines : [{ text: t('providers.noneToRefresh'), isFailure: false }];
}

function changeText(added: number, removed: number): string {
  const parts = [
    added > 0 && t('providers.modelsAdded', { count: added }),
    removed > 0 && t('providers.modelsRemoved', { count: removed }),
  ];
  return parts.filter(Boolean).join(', ') || t('providers.factsChanged');
}

/** The replacement of a default model that its registry has withdrawn. */
export const retiredText = ({ from_display_name: from, to }: NonNullable<RefreshReport['retired_default']>): string =>
  t('providers.retired', { from, to });
