/** The MCP servers that a client brings with a session: a set in memory, in place of configuration files. */
import type { McpServerInput } from '#schema/config/mcp-server.ts';
import type { McpServerSet, WorkspaceServers } from './workspace-servers.ts';

export interface ClientServers extends WorkspaceServers {
  replace(servers: readonly McpServerInput[]): Promise<void>;
}

export function createClientServers(): ClientServers {
  let set: McpServerSet = { entries: [], problems: [], ignored: [] };
  const listeners = new Set<(servers: McpServerSet) => void | Promise<void>>();
  return {
    load: () => Promise.resolve(set),
    reload: () => Promise.resolve(),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => listeners.clear(),
    async replace(servers) {
      const entries = servers.map(({ name, ...config }) => ({
        name,
        config,
        source: 'global' as const,
        origin: 'client',
        mutable: false,
        literal: true,
      }));
      set = { ...set, entries };
      for (const listener of listeners) await listener(set);
    },
  };
}
