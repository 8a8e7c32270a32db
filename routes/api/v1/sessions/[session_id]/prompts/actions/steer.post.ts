import * as z from 'zod';
import { clientArray } from '#schema/client-array.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Move queued prompts into the running turn',
  tag: 'prompts',
  operationId: 'steerPrompts',
  params: pathParams('session_id'),
  body: z.object({ prompt_ids: clientArray(nonEmpty, { min: 1 }) }),
  data: z.object({ steered: z.literal(true), prompt_ids: z.array(z.string()) }),
  errors: ['session.not_found', 'prompt.not_found', 'session.busy'],
  handler: async ({ params, body: { prompt_ids }, app }) => {
    await app.sessions.steer(params.session_id, prompt_ids);
    return { steered: true as const, prompt_ids };
  },
});
