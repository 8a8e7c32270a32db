import * as z from 'zod';
import { clientArray } from '#schema/client-array.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { agentConfigSchema, clientListsShape, permissionRuleSchema, sessionSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Change title, metadata and agent settings of a session',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: z.object({
    title: nonEmpty.optional(),
    metadata: z.looseObject({ cwd: nonEmpty.optional() }).optional(),
    agent_config: agentConfigSchema.optional(),
    permission_rules: clientArray(permissionRuleSchema).optional(),
    ...clientListsShape,
  }),
  data: sessionSchema,
  errors: [
    'session.not_found',
    'session.busy',
    'fs.path_not_found',
    'fs.permission_denied',
    'goal.already_exists',
    'goal.not_found',
    'goal.status_invalid',
    'goal.objective_empty',
    'goal.objective_too_long',
  ],
  handler: ({ params, body, caller, app }) => app.sessions.updateProfile(params.session_id, body, caller),
});
