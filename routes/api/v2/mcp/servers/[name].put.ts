import * as z from 'zod';
import { directoryQuery, managedServerSchema } from '#schema/rest/mcp-management.ts';
import { mcpServerConfigSchema } from '#schema/config/mcp-server.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: "Replace an MCP server of the user's file",
  description: 'Replaces the whole entry; a name in the body is ignored.',
  tag: 'v2-mcp',
  params: pathParams('name'),
  query: directoryQuery,
  body: mcpServerConfigSchema,
  data: z.array(managedServerSchema),
  errors: ['mcp.server_not_found'],
  handler: ({ params, query, body, app }) => app.mcpManagement.replace(params.name, body, query.cwd),
});
