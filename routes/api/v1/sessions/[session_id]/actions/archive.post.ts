import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Archive a session',
  tag: 'sessions',
  operationId: 'runSessionArchiveAction',
  params: pathParams('session_id'),
  body: z.looseObject({}),
  bodyRequired: false,
  data: z.object({ archived: z.literal(true) }),
  errors: ['session.not_found'],
  load: ({ params, app }) => app.sessions.assertExists(params.session_id),
  handler: ({ params, app }) => app.sessions.archive(params.session_id),
});
