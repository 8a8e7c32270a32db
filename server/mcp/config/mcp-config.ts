/** The MCP servers that are configured: of a workspace as its sessions have them, and as the management sees them. */
import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Logger } from '#server/logging/log.ts';
import type { ChangeLock } from '#server/storage/change-lock.ts';
import { layersOf, mergeLayers, type McpProject, type McpServerEntry } from './layers.ts';
import { readServerFile } from './server-file.ts';
import { trustedLayers } from './trusted-layers.ts';
import type { UserFileWriter } from './user-file-writer.ts';
import { createUserServers, type UserServers } from './user-servers.ts';
import { createWorkspaceServers, type WorkspaceServers } from './workspace-servers.ts';

export interface McpConfig {
  /** Those of a workspace, kept true until they are closed. */
  workspace(root: string): WorkspaceServers;
  /**
   * All entries, read anew: the user's and, with a directory that is trusted and the root of a workspace, those of its
   * project. Throws 40001 where one file cannot be read.
   */
  catalog(directory?: string): Promise<McpServerEntry[]>;
  readonly user: UserServers;
  /** Looks at the files of all open workspaces now; resolves when the changes have been taken over. */
  reload(): Promise<void>;
  close(): void;
}

export interface McpConfigDeps {
  home: string;
  projectRootOf(root: string): Promise<string>;
  trusted(root: string): Promise<boolean>;
  /** The file that tells of it. */
  trustFile(root: string): Promise<string>;
  /** Whether a workspace has this real path as its root. */
  isWorkspace(realRoot: string): Promise<boolean>;
  /** Writes the user's file. */
  lock: ChangeLock<UserFileWriter>;
  log: Logger;
}

/** Reads nothing yet. */
export function createMcpConfig(deps: McpConfigDeps): McpConfig {
  const { home, projectRootOf, trusted, trustFile, lock, log } = deps;
  const open = new Set<WorkspaceServers>();

  /** Undefined where the directory is no workspace. */
  async function project(directory: string | undefined): Promise<McpProject | undefined> {
    if (directory === undefined || !isAbsolute(directory)) return undefined;
    const real = await realpath(directory).catch(() => undefined);
    if (real === undefined || !(await deps.isWorkspace(real))) return undefined;
    return { root: directory, top: await projectRootOf(directory) };
  }

  return {
    workspace(root) {
      const servers = createWorkspaceServers({ home, root, projectRootOf, trusted, trustFile, log });
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
      return mergeLayers(layers.map((layer, at) => ({ layer, servers: files[at]?.servers ?? new Map() })));
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
