import * as z from 'zod';
import { directoryQuery, locatorBody } from '#schema/rest/mcp-management.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Remove the sign-in to an MCP server',
  tag: 'v2-mcp',
  query: directoryQuery,
  body: locatorBody,
  data: z.null(),
  errors: ['mcp.server_not_found'],
  async handler({ query, body: { cwd = query.cwd, ...locator }, app }) {
    await app.mcpManagement.resetAuth(locator, cwd);
    return null;
  },
});
