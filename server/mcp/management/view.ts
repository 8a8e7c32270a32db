/** Converts entries to replies. */
import type { Inspection, Locator, ManagedServer } from '#schema/rest/mcp-management.ts';
import { hasPlaceholder, type McpServerConfig, type RedactedMcpServer } from '#schema/config/mcp-server.ts';
import { canonicalUrl } from '../auth/credentials.ts';
import type { McpServerEntry } from '../config/layers.ts';

/** Sorts by code unit. */
const names = (map: Record<string, string>) => Object.keys(map).toSorted((a, b) => (a < b ? -1 : 1));

/** Replaces the values of `env` and `headers` by their keys. */
export function redacted(config: McpServerConfig): RedactedMcpServer {
  if (config.transport === 'stdio') {
    const { env, ...rest } = config;
    return { ...rest, ...(env && { envKeys: names(env) }) };
  }
  const { headers, ...rest } = config;
  return { ...rest, ...(headers && { headerKeys: names(headers) }) };
}

/** Adds the variables of the plugin. */
function shownConfig({ config, plugin }: McpServerEntry): McpServerConfig {
  if (!plugin || config.transport !== 'stdio') return config;
  return { ...config, env: { ...config.env, ...plugin.variables } };
}

export function managed(entry: McpServerEntry): ManagedServer {
  const { name, source, origin, mutable, plugin } = entry;
  return {
    name,
    config: mutable ? entry.config : redacted(shownConfig(entry)),
    source,
    origin,
    mutable,
    ...(plugin && { plugin: { id: plugin.id, name: plugin.name } }),
  };
}

export function locatorOf({ name, plugin }: McpServerEntry): Locator {
  return plugin ? { source: 'plugin', pluginId: plugin.id, serverName: plugin.name } : { source: 'global', name };
}

/** The address with its placeholders not expanded. */
function shownUrl(url: string): string {
  return hasPlaceholder(url) ? url.replace(/#.*$/, '') : canonicalUrl(url);
}

/** All members of an inspection that need no probe. */
export function inspected(entry: McpServerEntry): Omit<Inspection, 'authStatus'> {
  const { name, config, source, mutable } = entry;
  const locator = locatorOf(entry);
  const ids = locator.source === 'global' ? [locator.name] : [locator.pluginId, locator.serverName];
  return {
    serverId: [locator.source, ...ids.map(encodeURIComponent)].join(':'),
    locator,
    runtimeName: name,
    ...(config.transport !== 'stdio' && { canonicalUrl: shownUrl(config.url) }),
    origin: source,
    config: redacted(shownConfig(entry)),
    enabled: config.enabled !== false,
    editable: mutable,
  };
}
