import { sessionSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Read the profile of a session: the same object as the session itself',
  tag: 'sessions',
  params: pathParams('session_id'),
  data: sessionSchema,
  errors: ['session.not_found'],
  handler: ({ params, app }) => app.sessions.get(params.session_id),
});
