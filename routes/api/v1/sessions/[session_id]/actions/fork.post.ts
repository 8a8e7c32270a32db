import { copyRequestSchema, sessionSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Create a session as a copy of this one',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: copyRequestSchema,
  bodyRequired: false,
  data: sessionSchema,
  errors: ['session.not_found', 'session.busy', 'persistence.failure'],
  load: ({ params, app }) => app.sessions.assertExists(params.session_id),
  handler: ({ params, body, app }) => app.sessions.fork(params.session_id, body),
});
