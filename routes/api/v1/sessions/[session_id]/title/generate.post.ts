import { generatedTitleSchema, generateTitleSchema } from '#schema/rest/title.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Generate a title from the conversation',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: generateTitleSchema,
  bodyRequired: false,
  data: generatedTitleSchema,
  errors: ['session.not_found', 'session.busy', 'session.title_unavailable'],
  handler: async ({ params, body, app }) => ({ title: await app.sessions.generateTitle(params.session_id, body) }),
});
