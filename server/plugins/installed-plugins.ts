/** The installed plugins with their manifests, as read from the disk. */
import { mapLimit } from '#server/async/map-limit.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import type { PluginSummary } from '#schema/rest/plugin.ts';
import type { CountMarkdown } from './count-markdown.ts';
import { isError, type Diagnostic } from './diagnostics.ts';
import { readManifest, type PluginManifest } from './manifest.ts';
import { readRegistry, registryFile, registryVersion, type InstalledEntry } from './registry.ts';

const WIDTH = 4;

/** An MCP server of a plugin. */
export interface InstalledServer {
  /** The name in the manifest. */
  name: string;
  config: McpServerConfig;
  /** The switch of the registry, or else that of the manifest; independent of the plugin's. */
  enabled: boolean;
}

export interface InstalledPlugin {
  id: string;
  root: string;
  enabled: boolean;
  /** Undefined if it is missing or has no valid name. */
  manifest: PluginManifest | undefined;
  /** True if there is an error: the plugin contributes nothing. */
  hasErrors: boolean;
  diagnostics: Diagnostic[];
  servers: InstalledServer[];
  skillCount: number;
  commandCount: number;
  entry: InstalledEntry;
}

/** An enabled plugin without errors. */
export type EnabledPlugin = InstalledPlugin & { manifest: PluginManifest };

export interface InstalledPlugins {
  /** Version of the file that was read. */
  version: string | undefined;
  /** In the order of their first installs; empty if the registry cannot be read. */
  plugins: readonly InstalledPlugin[];
  /** The reason why the registry cannot be read. */
  failure: unknown;
}

async function readPlugin(entry: InstalledEntry, countMarkdown: CountMarkdown): Promise<InstalledPlugin> {
  const { id, root, enabled } = entry;
  const { manifest, diagnostics } = await readManifest(root);
  const counts = manifest ? await countMarkdown(root, manifest) : { skills: 0, commands: 0 };
  const switches = entry.capabilities?.mcpServers ?? {};
  const servers = (manifest?.mcpServers ?? []).map(({ name, config }) => {
    const chosen = Object.hasOwn(switches, name) ? switches[name]?.enabled : undefined;
    return { name, config, enabled: chosen ?? config.enabled !== false };
  });
  return {
    id,
    root,
    enabled,
    manifest,
    hasErrors: diagnostics.some(isError),
    diagnostics,
    servers,
    skillCount: counts.skills,
    commandCount: counts.commands,
    entry,
  };
}

/** Reads registry and manifests. Never rejects. */
export async function readInstalled(home: string, countMarkdown: CountMarkdown): Promise<InstalledPlugins> {
  // Before the read: a write during it is noticed later.
  const version = await registryVersion(home);
  try {
    const { plugins } = await readRegistry(home);
    const read = await mapLimit(plugins, WIDTH, (entry) => readPlugin(entry, countMarkdown));
    return { version, plugins: read, failure: undefined };
  } catch (failure) {
    return { version, plugins: [], failure };
  }
}

export const isUsable = (plugin: InstalledPlugin): plugin is EnabledPlugin =>
  plugin.enabled && !plugin.hasErrors && plugin.manifest !== undefined;

/** The findings that prevent plugins from contributing, with the path of the file. */
export function problemsOf({ plugins, failure }: InstalledPlugins, home: string): Diagnostic[] {
  if (failure !== undefined) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    return [{ severity: 'error', message: reason, path: registryFile(home) }];
  }
  return plugins.filter(({ enabled }) => enabled).flatMap(({ diagnostics }) => diagnostics.filter(isError));
}

export function summaryOf(plugin: InstalledPlugin): PluginSummary {
  const { id, enabled, manifest, hasErrors, servers, skillCount, commandCount, entry } = plugin;
  return {
    id,
    displayName: manifest?.displayName ?? id,
    ...(manifest?.version !== undefined && { version: manifest.version }),
    enabled,
    state: hasErrors ? 'error' : 'ok',
    skillCount,
    mcpServerCount: servers.length,
    enabledMcpServerCount: servers.filter((server) => server.enabled).length,
    hookCount: manifest?.hooks.length ?? 0,
    commandCount,
    hasErrors,
    source: entry.source,
    ...(entry.originalSource !== undefined && { originalSource: entry.originalSource }),
    ...(entry.source === 'github' && entry.github && { github: entry.github }),
  };
}
