import * as z from 'zod';
import { testOutcomeSchema } from '#schema/rest/mcp-management.ts';
import { mcpServerInputSchema } from '#schema/config/mcp-server.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Connect to an MCP server and list its tools, without storing them',
  description: 'Takes the name of an entry, or a config that is not stored.',
  tag: 'v2-mcp',
  body: z.object({
    name: nonEmpty.optional(),
    server: mcpServerInputSchema.optional(),
    cwd: nonEmpty.optional(),
  }),
  data: testOutcomeSchema,
  errors: ['mcp.server_not_found'],
  handler: ({ body: { name, server, cwd }, app }) => app.mcpManagement.test({ name, server }, cwd),
});
