/** The MCP servers that installed plugins contribute: the first layer of a workspace's servers. */
import { placed, type McpServerEntry } from './layers.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';

export interface PluginServer {
  plugin: {
    id: string;
    /** Absolute directory. */
    root: string;
    /** Changes with each install: the program of an earlier copy must not continue to run. */
    revision: string;
  };
  /** The name in the manifest. */
  name: string;
  /** Placeholders not expanded. A `command` inside the plugin is absolute. */
  config: McpServerConfig;
  /** Whether the plugin and the server are switched on. */
  enabled: boolean;
}

export interface PluginServers {
  /** The enabled servers, in the order of the installs; none if the registry of the plugins cannot be read. */
  enabled(): Promise<readonly PluginServer[]>;
  /** All servers of plugins without errors. Throws `internal.error` if the registry cannot be read. */
  installed(): Promise<readonly PluginServer[]>;
}

/** Variables of the managed service that programs of plugins receive if they are set. */
const MANAGED = ['SERVICE_CODE_BASE_URL', 'SERVICE_CODE_OAUTH_HOST', 'SERVICE_OAUTH_HOST'];

export interface PluginLayerDeps {
  home: string;
  env(): NodeJS.ProcessEnv;
}

export function pluginEntry(
  { plugin: { id, root, revision }, name, config, enabled }: PluginServer,
  { home, env }: PluginLayerDeps,
): McpServerEntry {
  const own = env();
  const variables = {
    ...Object.fromEntries(MANAGED.flatMap((key) => (own[key] ? [[key, own[key]]] : []))),
    SERVICE_CODE_HOME: home,
    SERVICE_PLUGIN_ROOT: root,
  };
  return {
    name: `plugin-${id}:${name}`,
    config: { ...placed(config, root), enabled },
    source: 'plugin',
    origin: id,
    mutable: false,
    plugin: { id, name, root, revision, variables },
  };
}
