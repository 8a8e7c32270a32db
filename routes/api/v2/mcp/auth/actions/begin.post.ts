import * as z from 'zod';
import { directoryQuery, locatorBody } from '#schema/rest/mcp-management.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Begin a sign-in to an MCP server',
  tag: 'v2-mcp',
  query: directoryQuery,
  body: locatorBody,
  data: z.discriminatedUnion('status', [
    z.object({ status: z.literal('authorization-required'), flowId: z.string(), authorizationUrl: z.string() }),
    z.object({ status: z.literal('already-authorized') }),
  ]),
  errors: ['mcp.server_not_found', 'mcp.oauth_failed'],
  handler: ({ query, body: { cwd = query.cwd, ...locator }, app }) => app.mcpManagement.beginAuth(locator, cwd),
});
