import { z } from 'zod';
import { promptSchema, submitPromptSchema } from '#schema/prompt.ts';
import { useApp } from '#utils/app.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { MEDIA_BODY_LIMIT } from '#utils/http/body.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Submit a prompt; replies when it runs or waits',
  tag: 'prompts',
  operationId: 'submitPrompt',
  params: pathParams('session_id'),
  body: submitPromptSchema,
  bodyLimit: MEDIA_BODY_LIMIT,
  data: promptSchema,
  errors: [40110, 40111, 40112, 40113, 40401, 40407, 40415, 40901, 40903, 40912, 40927, 50003],
  errorData: { 40903: z.object({ aborted: z.literal(false) }) },
  handler: ({ params, body }) => useApp().sessions.submit(params.session_id, body),
});
