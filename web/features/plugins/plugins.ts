/** Summaries of plugins and of the catalog's entries. */
import type { MarketplaceEntry, PluginSummary } from '@service-code/client';
import { t, type PlainKey } from '../../messages/messages.ts';
import type { RowTone } from '../../render/row-tone.ts';

export interface ShownPlugin {
  id: string;
  name: string;
  version: string | undefined;
  enabled: boolean;
  tone: RowTone;
  state: string;
  /** The counts of its contributions. */
  brings: string;
  warning: string | undefined;
  /** Where it was installed from. */
  origin: string;
  /** Installs it again; a newer version of the catalog is named in the label. */
  update: { source: string; label: string; isNewer: boolean } | undefined;
}

/** The counts that are not zero. */
export function bringsOf(plugin: PluginSummary): string {
  const { skillCount, commandCount, hookCount, mcpServerCount, enabledMcpServerCount } = plugin;
  const parts = [
    skillCount > 0 && t('plugins.skills', { count: skillCount }),
    commandCount > 0 && t('plugins.commands', { count: commandCount }),
    hookCount > 0 && t('plugins.hooks', { count: hookCount }),
    mcpServerCount > 0 && t('plugins.mcpServers', { count: mcpServerCount, enabled: enabledMcpServerCount }),
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join(' · ') : t('plugins.bringsNothing');
}

function originOf({ source, originalSource, github }: PluginSummary): string {
  if (!github) return originalSource ?? source;
  const { owner, repo, ref, installedSha } = github;
  const commit = installedSha === undefined ? '' : ` (${installedSha.slice(0, 12)})`;
  return t('plugins.fromGitHub', { repository: `${owner}/${repo}`, at: `${ref.value}${commit}` });
}

/** The id of the capability that an entry installs; undefined for a plugin. */
export const capabilityOf = ({ source }: Pick<MarketplaceEntry, 'source'>): string | undefined =>
  /^capability:(.+)$/.exec(source)?.[1];

function updateOf({ id, originalSource }: PluginSummary, entries: readonly MarketplaceEntry[]): ShownPlugin['update'] {
  const newer = entries.find((entry) => entry.id === id && entry.updateAvailable && capabilityOf(entry) === undefined);
  if (newer)
    return { source: newer.source, label: t('plugins.updateTo', { version: newer.version ?? '' }), isNewer: true };
  return originalSource === undefined
    ? undefined
    : { source: originalSource, label: t('plugins.update'), isNewer: false };
}

function stateOf({ enabled, state, hasErrors }: PluginSummary): Pick<ShownPlugin, 'tone' | 'state' | 'warning'> {
  const isBroken = state === 'error' || hasErrors;
  return {
    tone: isBroken ? 'bad' : enabled ? 'good' : 'idle',
    state: t(enabled ? (isBroken ? 'plugins.hasErrors' : 'plugins.enabled') : 'plugins.disabled'),
    warning: isBroken ? t('plugins.broken') : undefined,
  };
}

/** In the order of the list. */
export const shownPlugins = (
  plugins: readonly PluginSummary[],
  entries: readonly MarketplaceEntry[],
): readonly ShownPlugin[] =>
  plugins.map((plugin) => ({
    id: plugin.id,
    name: plugin.displayName,
    version: plugin.version,
    enabled: plugin.enabled,
    ...stateOf(plugin),
    brings: bringsOf(plugin),
    origin: originOf(plugin),
    update: updateOf(plugin, entries),
  }));

const tierLabels: Record<MarketplaceEntry['tier'], PlainKey> = {
  official: 'plugins.official',
  curated: 'plugins.curated',
  'third-party': 'plugins.thirdParty',
};

export const tierLabel = ({ tier }: Pick<MarketplaceEntry, 'tier'>): string => t(tierLabels[tier]);

/** The installed version of an entry, in words; undefined while it is not installed. */
export function installedText({ installed }: MarketplaceEntry): string | undefined {
  if (!installed) return undefined;
  return t('plugins.installedVersion', { version: installed.version, isEnabled: installed.enabled });
}

/** The entries that contain all words of a filter, in any of their texts. */
export function matchingEntries(entries: readonly MarketplaceEntry[], filter: string): readonly MarketplaceEntry[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  return entries.filter(({ id, displayName, description = '', keywords = [], tier }) => {
    const text = [id, displayName, description, ...keywords, tierLabel({ tier })].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
