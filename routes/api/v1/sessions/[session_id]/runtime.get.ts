import { runtimeBindingSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Read which runtime the main agent works on',
  tag: 'sessions',
  params: pathParams('session_id'),
  data: runtimeBindingSchema,
  errors: ['session.not_found'],
  handler: async ({ params, app }) => (await app.sessions.read(params.session_id)).runtime(),
});
