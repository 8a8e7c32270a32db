import * as z from 'zod';
import { directoryQuery, managedServerSchema } from '#schema/rest/mcp-management.ts';
import { mcpServerInputSchema } from '#schema/config/mcp-server.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: "Add an MCP server to the user's file",
  tag: 'v2-mcp',
  query: directoryQuery,
  body: mcpServerInputSchema,
  data: z.array(managedServerSchema),
  handler: ({ query, body, app }) => app.mcpManagement.add(body, query.cwd),
});
