import * as z from 'zod';
import { mcpServerNotFound, restartMcpServer } from '#server/features/mcp/servers.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Reconnect an MCP server',
  description: 'The reply is sent after the attempt has succeeded or failed.',
  tag: 'tools',
  operationId: 'restartMcpServer',
  params: pathParams('mcp_server_id'),
  data: z.object({ restarting: z.literal(true) }),
  errors: ['validation.failed', 'mcp.server_not_found'],
  async handler({ params: { mcp_server_id }, app }) {
    const restarted = await app.sessions.ifAnyLoaded(async ({ context }) => {
      await restartMcpServer(context, mcp_server_id);
      return { restarting: true as const };
    });
    if (!restarted) throw mcpServerNotFound(mcp_server_id);
    return restarted;
  },
});
