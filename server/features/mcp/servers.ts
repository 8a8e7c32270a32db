/** Listing and restarting the MCP servers of a session's workspace. */
import type { SessionContext } from '#server/agent/contract/context.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { McpServerState, McpStatus } from '#server/mcp/server.ts';
import type { McpServerRow } from '#schema/rest/mcp.ts';
import { mcp } from './mcp.ts';

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

/** Lists the servers and starts those that are not started; does not wait for connections. */
export async function listMcpServers(session: SessionContext): Promise<McpServerRow[]> {
  const servers = await session.feature(mcp).servers();
  return servers.map((server) => rowOf(server.state()));
}

/**
 * Restarts a server; resolves when the new connection is established or has failed. Throws `mcp.server_not_found`,
 * and `validation.failed` for a disabled server.
 */
export const restartMcpServer = (session: SessionContext, name: string): Promise<void> =>
  session.feature(mcp).restart(name);

export const mcpServerNotFound = (name: string) =>
  new ServiceError('mcp.server_not_found', `MCP server ${name} does not exist`);
