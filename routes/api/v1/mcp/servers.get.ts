import * as z from 'zod';
import { listMcpServers } from '#server/features/mcp/servers.ts';
import { mcpServerSchema } from '#schema/rest/mcp.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'MCP servers of the loaded session created last',
  description: 'Starts the servers of its workspace if they are not started, without waiting for connections.',
  tag: 'tools',
  operationId: 'listMcpServers',
  data: z.object({ servers: z.array(mcpServerSchema) }),
  handler: async ({ app }) => ({
    servers: (await app.sessions.ifAnyLoaded(({ context }) => listMcpServers(context))) ?? [],
  }),
});
