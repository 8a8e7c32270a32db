/**
 * The MCP servers of a workspace: those of the user and, where the directory is trusted, those of the project. A file that
 * cannot be read keeps the servers that it named before, and the other files count all the same.
 */
import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { McpServerConfig } from '#schema/mcp-server.ts';
import type { IgnoredConfig } from '#server/project-files/ignored-config.ts';
import { layersOf, mergeLayers, type McpServerEntry } from './layers.ts';
import { readServerFile } from './server-file.ts';
import { trustedLayers } from './trusted-layers.ts';
import { watchFiles } from './watch-files.ts';

export interface McpConfigProblem {
  /** Absolute. */
  file: string;
  /** Names the file, and no value of it. */
  message: string;
}

export interface McpServerSet {
  /** One a name, in the order of the layers. */
  entries: readonly McpServerEntry[];
  problems: readonly McpConfigProblem[];
  /** Files of the project that do not count. */
  ignored: readonly IgnoredConfig[];
}

export interface WorkspaceServers {
  /** Those in force; the first call reads the files and begins to watch them. */
  load(): Promise<McpServerSet>;
  /** Reads the files now; resolves when all listeners have taken over what changed. */
  reload(): Promise<void>;
  /** Called with the whole set after each change of it. Returns what ends it. */
  onChange(listener: (servers: McpServerSet) => void | Promise<void>): () => void;
  close(): void;
}

export interface WorkspaceServersDeps {
  home: string;
  /** Absolute directory of the workspace. */
  root: string;
  /** The top of the repository around a directory, or the directory itself. */
  projectRootOf(root: string): Promise<string>;
  /** Whether the user trusts this very directory; called at every reading. */
  trusted(directory: string): Promise<boolean>;
  /** The file that records it. */
  trustFile(directory: string): Promise<string>;
  log: Logger;
}

const NONE: McpServerSet = { entries: [], problems: [], ignored: [] };

/** Reads nothing yet. */
export function createWorkspaceServers(deps: WorkspaceServersDeps): WorkspaceServers {
  const { home, root, log } = deps;
  const listeners = new Set<(servers: McpServerSet) => void | Promise<void>>();
  /** What each file named when it could be read last. */
  let known = new Map<string, ReadonlyMap<string, McpServerConfig>>();
  let current = NONE;
  let first: Promise<void> | undefined;
  let queue: Promise<unknown> = Promise.resolve();
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
    // Of files that do not count any more nothing is kept.
    known = new Map(layers.map(({ layer, servers }) => [layer.path, servers]));
    return { entries: mergeLayers(layers), problems, ignored };
  }

  function tellProblems(before: McpServerSet): void {
    for (const { file, message } of current.problems) {
      const told = before.problems.some((problem) => problem.file === file && problem.message === message);
      if (!told) log.warn(`MCP servers of a file are left as they were: ${message}`, { file });
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

  function reload(): Promise<void> {
    const done = queue.then(renew);
    // A failure is its caller's; the next one starts all the same.
    queue = done.catch(() => undefined);
    return done;
  }

  function noticed(): void {
    reload().catch((error: unknown) => log.error('MCP servers could not be read anew', { root, err: error }));
  }

  async function start(): Promise<void> {
    const project = { root, top: await deps.projectRootOf(root) };
    const layers = layersOf(home, project);
    // The trust may be given to another server of the home.
    const directories = new Set(layers.flatMap(({ needsTrust }) => needsTrust));
    const markers = await Promise.all([...directories].map((path) => deps.trustFile(path).catch(() => undefined)));
    const paths = [...layers.map(({ path }) => path), ...markers.flatMap((marker) => marker ?? [])];
    // Watched first: a change between the two would be seen by neither.
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
      // Nobody has asked for them yet.
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
