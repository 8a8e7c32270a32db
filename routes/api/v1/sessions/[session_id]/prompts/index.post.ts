import { z } from 'zod';
import { promptSchema, submitPromptSchema } from '../../../../../../server/schema/prompt.ts';
import { useApp } from '../../../../../../utils/app.ts';
import { defineEndpoint } from '../../../../../../utils/endpoint.ts';
import { pathParams } from '../../../../../../utils/params.ts';

/** Inline media travel in the body. */
const BODY_LIMIT = 33_554_432;

export default defineEndpoint({
  summary: 'Submit a prompt; replies when it runs or waits',
  tag: 'prompts',
  operationId: 'submitPrompt',
  params: pathParams('session_id'),
  body: submitPromptSchema,
  bodyLimit: BODY_LIMIT,
  data: promptSchema,
  errors: [40110, 40111, 40112, 40113, 40401, 40407, 40415, 40901, 40903, 40912, 40927, 50003],
  errorData: { 40903: z.object({ aborted: z.literal(false) }) },
  handler: ({ params, body }) => useApp().sessions.submit(params.session_id, body),
});
