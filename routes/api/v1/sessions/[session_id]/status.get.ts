import { statusSchema } from '#schema/session.ts';
import { useApp } from '#utils/app.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Status rollup of a session: activity, model, modes, context size',
  tag: 'sessions',
  params: pathParams('session_id'),
  data: statusSchema,
  errors: ['session.not_found'],
  handler: async ({ params }) => (await useApp().sessions.open(params.session_id)).status(),
});
