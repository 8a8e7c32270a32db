/** Summaries of plugins and of the catalog's entries. */
import type { MarketplaceEntry, PluginSummary } from '@service-code/client';
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

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The counts that are not zero. */
export function bringsOf(plugin: PluginSummary): string {
  const { skillCount, commandCount, hookCount, mcpServerCount, enabledMcpServerCount } = plugin;
  const servers = counted(mcpServerCount, 'MCP server');
  const parts = [
    skillCount > 0 && counted(skillCount, 'skill'),
    commandCount > 0 && counted(commandCount, 'command'),
    hookCount > 0 && counted(hookCount, 'hook'),
    mcpServerCount > 0 && (enabledMcpServerCount < mcpServerCount ? `${enabledMcpServerCount} of ${servers}` : servers),
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join(' · ') : 'No skills, commands, hooks or MCP servers';
}

function originOf({ source, originalSource, github }: PluginSummary): string {
  if (!github) return originalSource ?? source;
  const { owner, repo, ref, installedSha } = github;
  const commit = installedSha === undefined ? '' : ` (${installedSha.slice(0, 12)})`;
  return `${owner}/${repo} at ${ref.value}${commit}`;
}

/** The id of the capability that an entry installs; undefined for a plugin. */
export const capabilityOf = ({ source }: Pick<MarketplaceEntry, 'source'>): string | undefined =>
  /^capability:(.+)$/.exec(source)?.[1];

function updateOf({ id, originalSource }: PluginSummary, entries: readonly MarketplaceEntry[]): ShownPlugin['update'] {
  const newer = entries.find((entry) => entry.id === id && entry.updateAvailable && capabilityOf(entry) === undefined);
  if (newer) return { source: newer.source, label: `Update to ${newer.version}`, isNewer: true };
  return originalSource === undefined ? undefined : { source: originalSource, label: 'Update', isNewer: false };
}

function stateOf({ enabled, state, hasErrors }: PluginSummary): Pick<ShownPlugin, 'tone' | 'state' | 'warning'> {
  const isBroken = state === 'error' || hasErrors;
  return {
    tone: isBroken ? 'bad' : enabled ? 'good' : 'idle',
    state: enabled ? (isBroken ? 'has errors' : 'enabled') : 'disabled',
    warning: isBroken
      ? 'Its manifest is missing or has errors, so the agent gets nothing of it. Update it, or remove it.'
      : undefined,
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

export const tierLabels: Record<MarketplaceEntry['tier'], string> = {
  official: 'official',
  curated: 'curated',
  'third-party': 'third party',
};

/** The installed version of an entry, in words; undefined while it is not installed. */
export function installedText({ installed }: MarketplaceEntry): string | undefined {
  if (!installed) return undefined;
  const version = installed.version === undefined ? '' : ` ${installed.version}`;
  return `installed${version}${installed.enabled ? '' : ', disabled'}`;
}

/** The entries that contain all words of a filter, in any of their texts. */
export function matchingEntries(entries: readonly MarketplaceEntry[], filter: string): readonly MarketplaceEntry[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  return entries.filter(({ id, displayName, description = '', keywords = [], tier }) => {
    const text = [id, displayName, description, ...keywords, tierLabels[tier]].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
