import * as z from 'zod';
import { directoryQuery, managedServerSchema } from '#schema/rest/mcp-management.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: "Remove an MCP server from the user's file",
  description: 'A stored sign-in is not removed.',
  tag: 'v2-mcp',
  params: pathParams('name'),
  query: directoryQuery,
  data: z.array(managedServerSchema),
  errors: ['mcp.server_not_found'],
  handler: ({ params, query, app }) => app.mcpManagement.remove(params.name, query.cwd),
});
