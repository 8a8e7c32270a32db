import * as z from 'zod';
import { directoryQuery, managedServerSchema } from '#schema/rest/mcp-management.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'List the configured MCP servers',
  tag: 'v2-mcp',
  tagDescription: 'Management of MCP servers',
  query: directoryQuery,
  data: z.array(managedServerSchema),
  handler: ({ query, app }) => app.mcpManagement.list(query.cwd),
});
