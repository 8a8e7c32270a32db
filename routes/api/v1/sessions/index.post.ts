import * as z from 'zod';
import { agentConfigSchema, clientListsShape, sessionSchema } from '#schema/rest/session.ts';
import { afterFields } from '#schema/after-fields.ts';
import { nonEmpty, workspaceId } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Create a session',
  tag: 'sessions',
  body: z
    .object({
      workspace_id: workspaceId.optional(),
      metadata: z.looseObject({ cwd: nonEmpty.optional() }).optional(),
      title: nonEmpty.optional(),
      agent_config: agentConfigSchema.optional(),
      ...clientListsShape,
    })
    .refine(
      (body) => body.metadata === undefined || body.workspace_id !== undefined || body.metadata.cwd !== undefined,
      {
        ...afterFields,
        path: ['metadata', 'cwd'],
        error: 'Invalid input: expected string, received undefined',
      },
    ),
  data: sessionSchema,
  errors: ['fs.path_not_found', 'fs.permission_denied', 'workspace.not_found'],
  handler: ({ body, app }) => app.sessions.create(body),
});
