/** MCP servers of a session and the tools they provide. */
import * as z from 'zod';
import { count } from '../scalars.ts';

export const mcpEvents = {
  'mcp.server.status': z.object({
    server: z.object({
      name: z.string(),
      transport: z.enum(['stdio', 'http', 'sse']),
      status: z.enum(['pending', 'connected', 'failed', 'disabled', 'needs-auth', 'removed']),
      toolCount: count,
      error: z.string().optional(),
    }),
  }),
  'tool.list.updated': z.object({
    reason: z.enum(['mcp.connected', 'mcp.disconnected', 'mcp.failed']),
    serverName: z.string(),
  }),
};
