import { statusSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Status rollup of a session: activity, model, modes, context size',
  tag: 'sessions',
  params: pathParams('session_id'),
  data: statusSchema,
  errors: ['session.not_found'],
  handler: async ({ params, app }) => (await app.sessions.read(params.session_id)).status(),
});
