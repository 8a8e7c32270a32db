import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Cancel a running prompt or remove a queued one',
  tag: 'prompts',
  operationId: 'abortPrompt',
  params: pathParams('session_id', 'prompt_id'),
  data: z.object({ aborted: z.literal(true) }),
  errors: ['session.not_found', 'prompt.not_found', 'session.busy', 'prompt.already_completed'],
  handler: async ({ params, app }) => {
    await app.sessions.abort(params.session_id, params.prompt_id);
    return { aborted: true as const };
  },
});
