import * as z from 'zod';
import { openSideConversation } from '#server/features/btw/btw.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Open a side conversation: a read-only agent on a copy of the main one, addressed by its id in prompts',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: z.looseObject({}),
  bodyRequired: false,
  data: z.object({ agent_id: z.string() }),
  errors: [
    'auth.provisioning_required',
    'auth.token_missing',
    'auth.token_unauthorized',
    'auth.model_not_resolved',
    'session.not_found',
    'session.busy',
    'persistence.failure',
  ],
  load: ({ params, app }) => app.sessions.assertExists(params.session_id),
  handler: ({ params, app }) =>
    app.sessions.use(params.session_id, async ({ context }) => ({
      agent_id: await openSideConversation(context, app.models),
    })),
});
