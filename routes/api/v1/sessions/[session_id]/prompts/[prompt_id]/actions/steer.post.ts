import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Move a queued prompt into the running turn',
  tag: 'prompts',
  operationId: 'steerPrompt',
  params: pathParams('session_id', 'prompt_id'),
  data: z.object({ steered: z.literal(true), prompt_ids: z.array(z.string()) }),
  errors: ['session.not_found', 'prompt.not_found', 'session.busy'],
  handler: async ({ params, app }) => {
    const prompt_ids = [params.prompt_id];
    await app.sessions.steer(params.session_id, prompt_ids);
    return { steered: true as const, prompt_ids };
  },
});
