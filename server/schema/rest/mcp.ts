import * as z from 'zod';
import { count } from '../scalars.ts';

/** One row of `GET /mcp/servers`. */
export const mcpServerSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    transport: z.enum(['stdio', 'http', 'sse']),
    status: z.enum(['connected', 'connecting', 'disconnected', 'error']),
    tool_count: count,
    last_error: z.string().min(1).optional(),
  })
  .meta({ id: 'McpServer' });
export type McpServerRow = z.infer<typeof mcpServerSchema>;
