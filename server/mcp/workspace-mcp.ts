/** The MCP servers of a workspace, shared by its sessions and started on first use. */
import type { Logger } from '#server/logging/log.ts';
import type { IgnoredConfig } from '#server/project-files/ignored-config.ts';
import type { ServerDefinition } from './config/layers.ts';
import type { McpConfigProblem, McpServerSet, WorkspaceServers } from './config/workspace-servers.ts';
import type { McpServer, McpServerChange, McpServerDeps } from './server.ts';
import { ServiceError } from '#server/errors/service-error.ts';

/** Published in the order of the changes. */
export type WorkspaceChange = McpServerChange & { server: McpServer };

export interface WorkspaceMcp {
  /** Starts all servers in parallel; resolves when no attempt is running. Never rejects. */
  start(): Promise<void>;
  /**
   * Starts them; waits for the configuration, not for a connection. In the order of the configuration; removed servers
   * of files are included, those of plugins are not.
   */
  list(): Promise<readonly McpServer[]>;
  /** In the order in which they first had tools; includes servers that were removed from the configuration. */
  readonly registered: readonly McpServer[];
  /** Files of the configuration that cannot be read. */
  problems(): readonly McpConfigProblem[];
  /** Project files that are ignored. */
  ignored(): readonly IgnoredConfig[];
  /** Resolves when the new connection is open or has failed. Throws `mcp.server_not_found` or `validation.failed`. */
  restart(name: string): Promise<void>;
  /** Restarts the servers for which `which` returns true. */
  reconnect(which: (server: McpServer) => boolean): void;
  /** Returns an unsubscribe function. */
  onChange(listener: (change: WorkspaceChange) => void): () => void;
  close(): Promise<void>;
}

export interface WorkspaceMcpDeps {
  configured: WorkspaceServers;
  createServer(definition: ServerDefinition, changed: McpServerDeps['changed']): McpServer;
  log: Logger;
}

export function createWorkspaceMcp({ configured, createServer, log }: WorkspaceMcpDeps): WorkspaceMcp {
  const servers = new Map<string, McpServer>();
  const registered = new Set<McpServer>();
  const listeners = new Set<(change: WorkspaceChange) => void>();
  let problems: readonly McpConfigProblem[] = [];
  let ignored: readonly IgnoredConfig[] = [];
  let reading: Promise<void> | undefined;
  let closed = false;

  function tell(change: WorkspaceChange): void {
    if (change.kind === 'tools') registered.add(change.server);
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        log.error('a change of an MCP server could not be told', { server: change.server.name, err: error });
      }
    }
  }

  function add(definition: ServerDefinition): McpServer {
    const server = createServer(definition, (change) => tell({ ...change, server }));
    servers.set(definition.name, server);
    return server;
  }

  /** Applies the new configuration: all states have changed when it returns; connections follow asynchronously. */
  function takeOver({ entries, ...files }: McpServerSet): void {
    if (closed) return;
    ({ problems, ignored } = files);
    const named = new Set(entries.map(({ name }) => name));
    const gone = [...servers.values()].filter(({ name }) => !named.has(name));
    for (const server of gone) if (server.state().status !== 'removed') server.remove();
    for (const { name, config, plugin, literal } of entries) {
      const definition = { name, config, ...(plugin && { plugin }), ...(literal && { literal }) };
      const known = servers.get(name);
      if (known) known.configure(definition);
      else void add(definition).connect();
    }
  }

  async function read(): Promise<void> {
    const set = await configured.load();
    takeOver(set);
    configured.onChange(takeOver);
  }

  async function list(): Promise<readonly McpServer[]> {
    reading ??= read().catch((error: unknown) => {
      log.error('the configuration of MCP servers cannot be read', { err: error });
    });
    await reading;
    return [...servers.values()].filter(({ definition, state }) => !definition.plugin || state().status !== 'removed');
  }

  return {
    async start() {
      for (const server of await list()) await server.settled();
    },
    list,
    get registered() {
      return [...registered];
    },
    problems: () => problems,
    ignored: () => ignored,
    async restart(name) {
      const server = (await list()).find((one) => one.name === name);
      const { status } = server?.state() ?? {};
      if (!server || status === 'removed') {
        throw new ServiceError('mcp.server_not_found', `MCP server ${name} does not exist`);
      }
      if (status === 'disabled') throw new ServiceError('validation.failed', `MCP server is disabled: ${name}`);
      await server.restart();
    },
    reconnect(which) {
      for (const server of servers.values()) if (which(server)) void server.restart();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      closed = true;
      listeners.clear();
      configured.close();
      await reading;
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}
