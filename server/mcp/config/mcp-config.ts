/** The configured MCP servers: watched for the sessions of a workspace, and read on request for the management. */
import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Logger } from '#server/logging/log.ts';
import type { ChangeLock } from '#server/storage/change-lock.ts';
import { layersOf, mergeLayers, type McpProject, type McpServerEntry } from './layers.ts';
import { pluginEntry, type PluginServer, type PluginServers } from './plugin-layer.ts';
import { readServerFile } from './server-file.ts';
import { trustedLayers } from './trusted-layers.ts';
import type { UserFileWriter } from './user-file-writer.ts';
import { createUserServers, type UserServers } from './user-servers.ts';
import { createWorkspaceServers, type WorkspaceServers } from './workspace-servers.ts';

export interface McpConfig {
  /** The servers of a workspace, kept up to date until closed. */
  workspace(root: string): WorkspaceServers;
  /**
   * Re-reads and returns all entries: the user's and, for the root of a workspace that is trusted, those of its
   * project, followed by all of the installed plugins, also of names that a file defines. Throws `validation.failed` if
   * one file cannot be read, and `internal.error` if the registry of the plugins cannot.
   */
  catalog(directory?: string): Promise<McpServerEntry[]>;
  readonly user: UserServers;
  /** Re-reads the files of all open workspaces; resolves when the changes have been applied. */
  reload(): Promise<void>;
  close(): void;
}

export interface McpConfigDeps {
  home: string;
  projectRootOf(root: string): Promise<string>;
  trusted(root: string): Promise<boolean>;
  /** The file that records the trust. */
  trustFile(root: string): Promise<string>;
  /** Whether a workspace has this real path as its root. */
  isWorkspace(realRoot: string): Promise<boolean>;
  /** The change lock of the user's file. */
  lock: ChangeLock<UserFileWriter>;
  plugins: PluginServers;
  env(): NodeJS.ProcessEnv;
  log: Logger;
}

export function createMcpConfig(deps: McpConfigDeps): McpConfig {
  const { home, projectRootOf, trusted, trustFile, lock, plugins, log } = deps;
  const entriesOf = (servers: readonly PluginServer[]) => servers.map((server) => pluginEntry(server, deps));
  const pluginEntries = async () => entriesOf(await plugins.enabled());
  const open = new Set<WorkspaceServers>();

  /** Undefined if the directory is not a workspace. */
  async function project(directory: string | undefined): Promise<McpProject | undefined> {
    if (directory === undefined || !isAbsolute(directory)) return undefined;
    const real = await realpath(directory).catch(() => undefined);
    if (real === undefined || !(await deps.isWorkspace(real))) return undefined;
    return { root: directory, top: await projectRootOf(directory) };
  }

  return {
    workspace(root) {
      const servers = createWorkspaceServers({ home, root, projectRootOf, trusted, trustFile, pluginEntries, log });
      open.add(servers);
      return {
        ...servers,
        close() {
          open.delete(servers);
          servers.close();
        },
      };
    },
    async catalog(directory) {
      const { layers } = await trustedLayers(layersOf(home, await project(directory)), deps);
      const files = await Promise.all(layers.map(({ path }) => readServerFile(path)));
      const merged = mergeLayers(layers.map((layer, at) => ({ layer, servers: files[at]?.servers ?? new Map() })));
      return [...merged, ...entriesOf(await plugins.installed())];
    },
    user: createUserServers({ home, lock }),
    async reload() {
      await Promise.all([...open].map((servers) => servers.reload()));
    },
    close() {
      for (const servers of open) servers.close();
      open.clear();
    },
  };
}
