/** The configuration files of a directory, and their merge into one definition for each name. */
import { join, resolve } from 'node:path';
import { PROJECT_FOLDER, PROJECT_MCP } from '#server/project-files/places.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';

export interface McpServerEntry {
  /** Unique in a workspace. */
  name: string;
  /** Placeholders not expanded. */
  config: McpServerConfig;
  source: 'global' | 'plugin';
  /** Absolute path of the defining file, or the id of the plugin. */
  origin: string;
  /** Whether requests may change it. */
  mutable: boolean;
  /** Only for a server of a plugin. */
  plugin?: EntryPlugin;
  /** A client has sent it with a session: placeholders are not expanded. */
  literal?: boolean;
}

export interface EntryPlugin {
  id: string;
  /** The server's name in the manifest. */
  name: string;
  /** Absolute directory of the plugin. */
  root: string;
  /** Changes with each install of the plugin. */
  revision: string;
  /** Variables of the program, also for placeholders. They override those of the environment and of the config. */
  variables: Readonly<Record<string, string>>;
}

/** The members of an entry that determine which server runs. */
export type ServerDefinition = Pick<McpServerEntry, 'name' | 'config' | 'plugin' | 'literal'>;

export interface Layer {
  path: string;
  mutable: boolean;
  /** Directory that resolves a relative `cwd` of its stdio entries; also their default `cwd`. */
  base?: string;
  /** Directories that the user must trust before the file is used; empty for the user's file. */
  needsTrust: readonly string[];
}

/** A workspace's directory, and the top directory of its project; the two may be the same. */
export interface McpProject {
  root: string;
  top: string;
}

export const userFile = (home: string): string => join(home, 'mcp.json');

/** The user's file, followed by those of the project; later layers override earlier ones. */
export function layersOf(home: string, project?: McpProject): Layer[] {
  const user: Layer = { path: userFile(home), mutable: true, needsTrust: [] };
  if (!project) return [user];
  const shared = join(project.top, PROJECT_MCP);
  const layers: Layer[] = [
    user,
    { path: shared, mutable: false, base: project.top, needsTrust: [...new Set([project.root, project.top])] },
    { path: join(project.root, PROJECT_FOLDER, 'mcp.json'), mutable: false, needsTrust: [project.root] },
  ];
  // A home may be the `.service-code` folder of the directory above it; its file is treated as the user's then.
  return layers.filter((layer) => layer === user || layer.path !== user.path);
}

/** Resolves the `cwd` of a stdio server; the default is `base`. */
export function placed(config: McpServerConfig, base: string | undefined): McpServerConfig {
  if (base === undefined || config.transport !== 'stdio') return config;
  return { ...config, cwd: resolve(base, config.cwd ?? '.') };
}

/** One entry for each name: the last definition, at the position of the first. `base` precedes all layers. */
export function mergeLayers(
  layers: readonly { layer: Layer; servers: ReadonlyMap<string, McpServerConfig> }[],
  base: readonly McpServerEntry[] = [],
): McpServerEntry[] {
  const merged = new Map(base.map((entry) => [entry.name, entry]));
  for (const { layer, servers } of layers) {
    for (const [name, config] of servers) {
      const { path: origin, mutable } = layer;
      merged.set(name, { name, config: placed(config, layer.base), source: 'global', origin, mutable });
    }
  }
  return [...merged.values()];
}
