import { z } from 'zod';
import { useApp } from '#utils/app.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Cancel the running turn of the main agent',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: z.looseObject({}),
  bodyRequired: false,
  data: z.object({ aborted: z.literal(true) }),
  errors: ['session.not_found'],
  load: ({ session_id }) => useApp().sessions.assertExists(session_id),
  handler: ({ params }) => useApp().sessions.abortTurn(params.session_id),
});
