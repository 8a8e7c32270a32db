/** Events of the stream `__global__`; durable there, never in a session's journal. */
import { z } from 'zod';
import { configSchema } from '../config.ts';
import { workspaceSchema } from '../workspace.ts';

export const globalEvents = {
  'event.session.archived': z.object({ workspace_id: z.string() }),
  'event.workspace.created': z.object({ workspace: workspaceSchema }),
  'event.workspace.updated': z.object({ workspace: workspaceSchema }),
  'event.workspace.deleted': z.object({ workspace_id: z.string(), root: z.string() }),
  'event.config.changed': z.object({ changedFields: z.array(z.string()), config: configSchema }),
  'event.config.warning': z.object({
    warnings: z.array(z.object({ domain: z.string().optional(), message: z.string() })),
  }),
};
