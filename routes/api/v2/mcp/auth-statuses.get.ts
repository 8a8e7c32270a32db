import { z } from 'zod';
import { authStatusSchema, directoryQuery } from '#schema/mcp-management.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Tell which configured MCP servers want a sign-in',
  description: 'With `verify` each is tried (true) or none is (false); without it those that nothing is known of.',
  tag: 'v2-mcp',
  query: directoryQuery.extend({ verify: z.enum(['true', 'false']).optional() }),
  data: z.array(z.object({ name: z.string(), authStatus: authStatusSchema })),
  handler: ({ query: { cwd, verify }, app }) =>
    app.mcpManagement.authStatuses(cwd, verify === undefined ? undefined : verify === 'true'),
});
