import * as z from 'zod';
import { authStatusSchema, directoryQuery } from '#schema/rest/mcp-management.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'List which configured MCP servers need a sign-in',
  description:
    '`verify`: true probes all servers that may need a sign-in, false none; default: those of unknown status.',
  tag: 'v2-mcp',
  query: directoryQuery.extend({ verify: z.enum(['true', 'false']).optional() }),
  data: z.array(z.object({ name: z.string(), authStatus: authStatusSchema })),
  handler: ({ query: { cwd, verify }, app }) =>
    app.mcpManagement.authStatuses(cwd, verify === undefined ? undefined : verify === 'true'),
});
