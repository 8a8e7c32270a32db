import { z } from 'zod';
import { listMcpServers } from '#server/features/mcp/servers.ts';
import { mcpServerSchema } from '#schema/mcp.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'MCP servers of the live session created last',
  description: 'Starts those of its workspace when nothing has yet, and waits for no connection.',
  tag: 'tools',
  operationId: 'listMcpServers',
  data: z.object({ servers: z.array(mcpServerSchema) }),
  handler: async ({ app }) => ({
    servers: (await app.sessions.ifAnyLoaded(({ context }) => listMcpServers(context))) ?? [],
  }),
});
