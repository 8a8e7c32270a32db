import * as z from 'zod';
import { sessionSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Un-archive a session and load it',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: z.looseObject({}),
  bodyRequired: false,
  data: sessionSchema,
  errors: ['session.not_found'],
  load: ({ params, app }) => app.sessions.assertExists(params.session_id),
  handler: ({ params, app }) => app.sessions.restore(params.session_id),
});
