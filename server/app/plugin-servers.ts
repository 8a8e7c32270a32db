/** Connects MCP to the plugins: their servers, and what follows when they change. */
import { errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { McpAuth } from '#server/mcp/auth/mcp-auth.ts';
import { remoteAddress } from '#server/mcp/config/expand.ts';
import type { McpConfig } from '#server/mcp/config/mcp-config.ts';
import {
  pluginEntry,
  type PluginLayerDeps,
  type PluginServer,
  type PluginServers,
} from '#server/mcp/config/plugin-layer.ts';
import type { InstalledPlugin } from '#server/plugins/installed-plugins.ts';
import type { Plugins } from '#server/plugins/plugins.ts';

function serversOf({ id, root, enabled, entry, servers }: InstalledPlugin): PluginServer[] {
  const plugin = { id, root, revision: entry.updatedAt ?? entry.installedAt };
  return servers.map((server) => ({
    plugin,
    name: server.name,
    config: server.config,
    enabled: enabled && server.enabled,
  }));
}

export function createPluginServers(plugins: Pick<Plugins, 'ready' | 'enabled' | 'installed'>): PluginServers {
  return {
    async enabled() {
      await plugins.ready();
      return plugins
        .enabled()
        .flatMap(serversOf)
        .filter(({ enabled }) => enabled);
    },
    async installed() {
      const installed = await plugins.installed();
      return installed.filter(({ hasErrors }) => !hasErrors).flatMap(serversOf);
    },
  };
}

export interface FollowPluginsDeps extends PluginLayerDeps {
  plugins: Pick<Plugins, 'onChange'>;
  mcpConfig: Pick<McpConfig, 'reload'>;
  mcpAuth: Pick<McpAuth, 'reset'>;
  log: Pick<Logger, 'warn'>;
}

/** Applies each change to the open workspaces; with a removed plugin the grants of its servers are removed. */
export function followPlugins({ plugins, mcpConfig, mcpAuth, log, ...layer }: FollowPluginsDeps): void {
  async function removeGrant(server: PluginServer): Promise<void> {
    const entry = pluginEntry(server, layer);
    try {
      const address = remoteAddress(entry, layer.env());
      if (address) await mcpAuth.reset(address);
    } catch (error) {
      log.warn('the grant of a removed MCP server could not be removed', {
        server: entry.name,
        err: errorMessage(error),
      });
    }
  }

  plugins.onChange(async ({ action, before }) => {
    await mcpConfig.reload();
    if (action !== 'remove' || !before) return;
    for (const server of serversOf(before)) await removeGrant(server);
  });
}
