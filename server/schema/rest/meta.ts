/** Reply of `GET /meta`: the server and its capabilities. */
import * as z from 'zod';
import { isoTime } from '../scalars.ts';

const always = z.literal(true);

export const metaSchema = z
  .object({
    server_version: z.string(),
    capabilities: z.object({
      websocket: always,
      file_upload: always,
      fs_query: always,
      mcp: always,
      tasks: always,
      terminal: always,
    }),
    server_id: z.string(),
    started_at: isoTime,
    open_in_apps: z.array(z.enum(['finder', 'cursor', 'vscode', 'iterm', 'terminal'])),
    dangerous_bypass_auth: z.boolean(),
    backend: z.enum(['v1', 'v2']),
    web_title: z.string().optional(),
    experimental_flags: z.record(z.string(), z.boolean()),
    features: z.array(
      z.object({
        name: z.string(),
        state: z.enum(['Pending', 'Activating', 'Active', 'Unloading', 'Failed']),
        meta: z.record(z.string(), z.unknown()),
      }),
    ),
  })
  .meta({ id: 'Meta' });
export type Meta = z.infer<typeof metaSchema>;
