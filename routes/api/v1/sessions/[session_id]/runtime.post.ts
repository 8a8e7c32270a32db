import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { runtimeBindingSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Switch the runtime of the main agent, from its next call on',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: z.object({ runtime_id: nonEmpty }),
  data: runtimeBindingSchema,
  errors: ['session.not_found', 'session.busy', 'runtime.not_found', 'runtime.unavailable'],
  handler: ({ params, body, app }) => app.sessions.switchRuntime(params.session_id, body.runtime_id),
});
