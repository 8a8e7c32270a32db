import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Cancel the running turn of the main agent, or the compaction of its conversation',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: z.looseObject({}),
  bodyRequired: false,
  data: z.object({ aborted: z.literal(true) }),
  errors: ['session.not_found', 'session.busy'],
  load: ({ params, app }) => app.sessions.assertExists(params.session_id),
  handler: ({ params, app }) => app.sessions.abortTurn(params.session_id),
});
