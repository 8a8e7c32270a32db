/** Events of the stream `__global__`, never part of a session's journal. */
import * as z from 'zod';
import { capabilityInstallSchema } from '../rest/capability.ts';
import { callerSchema } from '../rest/caller.ts';
import { configSchema } from '../config/config.ts';
import { refreshReportSchema } from '../rest/refresh.ts';
import { workspaceSchema } from '../rest/workspace.ts';

/** The durable ones: numbered, stored and replayed. */
export const globalEvents = {
  'event.session.archived': z.object({ workspace_id: z.string() }),
  'event.workspace.created': z.object({ workspace: workspaceSchema }),
  /** `by`: the client that changed its name, trust or directories. */
  'event.workspace.updated': z.object({ workspace: workspaceSchema, by: callerSchema.optional() }),
  'event.workspace.deleted': z.object({ workspace_id: z.string(), root: z.string() }),
  /** `by`: the client that made the whole change; absent for edits of the file. */
  'event.config.changed': z.object({
    changedFields: z.array(z.string()),
    config: configSchema,
    by: callerSchema.optional(),
  }),
  'event.config.warning': z.object({
    warnings: z.array(z.object({ domain: z.string().optional(), message: z.string() })),
  }),
  /** A refresh changed models, or a refresh or import replaced a retired default model. */
  'event.model_catalog.changed': refreshReportSchema,
  /** Plugins were installed, enabled, disabled, removed or reloaded, also by another server of the home. */
  'event.plugin.changed': z.object({}),
};

/** The volatile ones: sent to the clients that are connected, not stored. */
export const volatileGlobalEvents = {
  'event.capability.changed': z.object({ capability_id: z.string(), install: capabilityInstallSchema }),
};
