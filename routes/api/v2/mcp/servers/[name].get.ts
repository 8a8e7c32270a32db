import { directoryQuery, managedServerSchema } from '#schema/rest/mcp-management.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Get a configured MCP server',
  tag: 'v2-mcp',
  params: pathParams('name'),
  query: directoryQuery,
  data: managedServerSchema,
  errors: ['mcp.server_not_found'],
  handler: ({ params, query, app }) => app.mcpManagement.get(params.name, query.cwd),
});
