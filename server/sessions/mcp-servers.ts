/** The MCP servers of the session that was created last of those loaded here. */
import { ServiceError } from '#server/errors/service-error.ts';
import { mcp } from '#server/features/mcp/mcp.ts';
import type { McpServerState, McpStatus } from '#server/mcp/server.ts';
import type { WorkspaceMcp } from '#server/mcp/workspace-mcp.ts';
import type { McpServerRow } from '#schema/mcp.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { LiveSession } from './session.ts';

export interface SessionMcpServers {
  /** Starts them where nobody has, and waits for no connection. Empty where no session is loaded. */
  list(): Promise<McpServerRow[]>;
  /** Resolves when the new connection stands or has failed. Throws 40408, and 40001 of a disabled one. */
  restart(name: string): Promise<void>;
}

const shownStatus: Record<McpStatus, McpServerRow['status']> = {
  pending: 'connecting',
  connected: 'connected',
  failed: 'error',
  'needs-auth': 'error',
  disabled: 'disconnected',
  removed: 'disconnected',
};

const rowOf = ({ name, transport, status, toolCount, error }: McpServerState): McpServerRow => ({
  id: name,
  name,
  transport,
  status: shownStatus[status],
  tool_count: toolCount,
  ...(error ? { last_error: error } : {}),
});

export function createSessionMcpServers(live: LiveSessions): SessionMcpServers {
  /** The session stays loaded while the work runs. */
  async function withNewest<T>(work: (workspace: WorkspaceMcp) => Promise<T>): Promise<T | undefined> {
    const newest = live.all().reduce<LiveSession | undefined>((last, session) => {
      return last && last.row().createdAt >= session.row().createdAt ? last : session;
    }, undefined);
    return newest && live.ifLoaded(newest.id, ({ context }) => work(context.feature(mcp).workspace));
  }

  return {
    list: async () =>
      (await withNewest(async (workspace) => (await workspace.list()).map((server) => rowOf(server.state())))) ?? [],
    async restart(name) {
      const found = await withNewest(async (workspace) => {
        await workspace.restart(name);
        return true;
      });
      if (!found) throw new ServiceError('mcp.server_not_found', `MCP server ${name} does not exist`);
    },
  };
}
