/**
 * The MCP servers of a workspace: those of plugins, of the user and, if the directory is trusted, of the project. For an
 * unreadable file the servers of its last successful read stay in effect, independently of the other files.
 */
import { isDeepStrictEqual } from 'node:util';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import type { IgnoredConfig } from '#server/project-files/ignored-config.ts';
import { layersOf, mergeLayers, type McpServerEntry } from './layers.ts';
import { readServerFile } from './server-file.ts';
import { trustedLayers } from './trusted-layers.ts';
import { watchFiles } from './watch-files.ts';

export interface McpConfigProblem {
  /** Absolute. */
  file: string;
  /** Names the file, and quotes no value of it. */
  message: string;
}

export interface McpServerSet {
  /** One for each name, in the order of the layers; the servers of plugins are first. */
  entries: readonly McpServerEntry[];
  problems: readonly McpConfigProblem[];
  /** Untrusted project files, which are ignored. */
  ignored: readonly IgnoredConfig[];
}

export interface WorkspaceServers {
  /** Returns the current set; the first call reads the files and starts watching them. */
  load(): Promise<McpServerSet>;
  /** Re-reads files and plugins; resolves when all listeners have applied the changes. */
  reload(): Promise<void>;
  /** Calls the listener with the whole set after each change. Returns an unsubscribe function. */
  onChange(listener: (servers: McpServerSet) => void | Promise<void>): () => void;
  close(): void;
}

export interface WorkspaceServersDeps {
  home: string;
  /** Absolute directory of the workspace. */
  root: string;
  /** The top of the repository around a directory, or the directory itself. */
  projectRootOf(root: string): Promise<string>;
  /** Whether the user trusts this exact directory; called on each read. */
  trusted(directory: string): Promise<boolean>;
  /** The file that records the trust. */
  trustFile(directory: string): Promise<string>;
  /** The enabled servers of plugins; called on each read. */
  pluginEntries(): Promise<readonly McpServerEntry[]>;
  log: Logger;
}

const NONE: McpServerSet = { entries: [], problems: [], ignored: [] };

export function createWorkspaceServers(deps: WorkspaceServersDeps): WorkspaceServers {
  const { home, root, log } = deps;
  const listeners = new Set<(servers: McpServerSet) => void | Promise<void>>();
  /** The servers of each file at its last successful read. */
  let known = new Map<string, ReadonlyMap<string, McpServerConfig>>();
  let current = NONE;
  let first: Promise<void> | undefined;
  const reads = createSerialQueue();
  let watching: { close(): void } | undefined;
  let closed = false;

  async function read(): Promise<McpServerSet> {
    const all = layersOf(home, { root, top: await deps.projectRootOf(root) });
    const { layers: counting, ignored } = await trustedLayers(all, deps);
    const problems: McpConfigProblem[] = [];
    const layers = await Promise.all(
      counting.map(async (layer) => {
        try {
          return { layer, servers: (await readServerFile(layer.path)).servers };
        } catch (error) {
          problems.push({ file: layer.path, message: errorMessage(error) });
          return { layer, servers: known.get(layer.path) ?? new Map<string, McpServerConfig>() };
        }
      }),
    );
    // Drops the servers of files that are ignored now.
    known = new Map(layers.map(({ layer, servers }) => [layer.path, servers]));
    return { entries: mergeLayers(layers, await deps.pluginEntries()), problems, ignored };
  }

  function tellProblems(before: McpServerSet): void {
    for (const { file, message } of current.problems) {
      const isKnown = before.problems.some((problem) => problem.file === file && problem.message === message);
      if (!isKnown) log.warn(`MCP servers of a file are left as they were: ${message}`, { file });
    }
  }

  async function renew(): Promise<void> {
    if (closed) return;
    const now = await read();
    if (isDeepStrictEqual(now, current)) return;
    const before = current;
    current = now;
    tellProblems(before);
    await Promise.all(
      [...listeners].map(async (listener) => {
        try {
          await listener(now);
        } catch (error) {
          log.error('a change of MCP servers could not be taken over', { root, err: error });
        }
      }),
    );
  }

  const reload = (): Promise<void> => reads.run(renew);

  function noticed(): void {
    reload().catch((error: unknown) => log.error('MCP servers could not be read anew', { root, err: error }));
  }

  async function start(): Promise<void> {
    const project = { root, top: await deps.projectRootOf(root) };
    const layers = layersOf(home, project);
    // Another process of the home may record the trust, so its files are watched too.
    const directories = new Set(layers.flatMap(({ needsTrust }) => needsTrust));
    const markers = await Promise.all([...directories].map((path) => deps.trustFile(path).catch(() => undefined)));
    const paths = [...layers.map(({ path }) => path), ...markers.flatMap((marker) => marker ?? [])];
    // The watch starts before the read: a change between the two would be missed otherwise.
    const watcher = await watchFiles(paths, noticed, log);
    if (closed) watcher.close();
    else watching = watcher;
    await reload();
  }

  return {
    async load() {
      first ??= start();
      await first;
      return current;
    },
    async reload() {
      // Without a `load` there are no servers to update.
      if (!first) return;
      await first;
      await reload();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      closed = true;
      listeners.clear();
      watching?.close();
    },
  };
}
