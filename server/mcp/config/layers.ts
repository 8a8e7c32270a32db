/** Where the servers of a directory come from, and which definition of a name counts. */
import { join, resolve } from 'node:path';
import { PROJECT_FOLDER, PROJECT_MCP } from '#server/project-files/places.ts';
import type { McpServerConfig } from '#schema/mcp-server.ts';

export interface McpServerEntry {
  /** Unique in a workspace. */
  name: string;
  /** Placeholders as written. */
  config: McpServerConfig;
  source: 'global' | 'plugin';
  /** Absolute path of the defining file, or the id of the plugin. */
  origin: string;
  /** Whether requests may change it. */
  mutable: boolean;
  /** Of a server of a plugin; `name` is the one in its manifest. */
  plugin?: { id: string; name: string };
}

export interface Layer {
  path: string;
  mutable: boolean;
  /** Directory that the `cwd` of its stdio entries is resolved against, and is when there is none. */
  base?: string;
  /** Directories that the user must trust before the file counts; of a file of the user none. */
  needsTrust: readonly string[];
}

/** A workspace's directory, and the top of the project that it lies in, which may be the same. */
export interface McpProject {
  root: string;
  top: string;
}

export const userFile = (home: string): string => join(home, 'mcp.json');

/** The user's file alone, or with those of a project; later ones win. */
export function layersOf(home: string, project?: McpProject): Layer[] {
  const user: Layer = { path: userFile(home), mutable: true, needsTrust: [] };
  if (!project) return [user];
  const shared = join(project.top, PROJECT_MCP);
  const layers: Layer[] = [
    user,
    { path: shared, mutable: false, base: project.top, needsTrust: [...new Set([project.root, project.top])] },
    { path: join(project.root, PROJECT_FOLDER, 'mcp.json'), mutable: false, needsTrust: [project.root] },
  ];
  // A home may be the folder of the directory above it; its file is the user's all the same.
  return layers.filter((layer) => layer === user || layer.path !== user.path);
}

function placed(config: McpServerConfig, base: string | undefined): McpServerConfig {
  if (base === undefined || config.transport !== 'stdio') return config;
  return { ...config, cwd: resolve(base, config.cwd ?? '.') };
}

/** One entry a name: the last definition, at the place of the first. */
export function mergeLayers(
  layers: readonly { layer: Layer; servers: ReadonlyMap<string, McpServerConfig> }[],
): McpServerEntry[] {
  const merged = new Map<string, McpServerEntry>();
  for (const { layer, servers } of layers) {
    for (const [name, config] of servers) {
      const { path: origin, mutable, base } = layer;
      merged.set(name, { name, config: placed(config, base), source: 'global', origin, mutable });
    }
  }
  return [...merged.values()];
}
