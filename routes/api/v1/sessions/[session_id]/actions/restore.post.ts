import { z } from 'zod';
import { sessionSchema } from '#schema/session.ts';
import { useApp } from '#utils/app.ts';
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
  load: ({ session_id }) => useApp().sessions.assertExists(session_id),
  handler: ({ params }) => useApp().sessions.restore(params.session_id),
});
