import { copyRequestSchema, sessionSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Create a child session: a copy of this one that is listed as its child',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: copyRequestSchema,
  bodyRequired: false,
  data: sessionSchema,
  errors: ['session.not_found', 'session.busy', 'persistence.failure'],
  handler: ({ params, body, app }) => app.sessions.createChild(params.session_id, body),
});
