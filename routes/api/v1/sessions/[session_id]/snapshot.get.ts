import { snapshotSchema } from '#schema/rest/message.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'The state from which a client rebuilds its view, with the cursor to continue from',
  tag: 'sessions',
  params: pathParams('session_id'),
  data: snapshotSchema,
  errors: ['session.not_found'],
  handler: async ({ params, app }) => (await app.sessions.read(params.session_id)).snapshot(),
});
