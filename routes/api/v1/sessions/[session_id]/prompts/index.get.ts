import * as z from 'zod';
import { promptSchema } from '#schema/rest/prompt.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'The running prompt of the main agent and the queued ones',
  tag: 'prompts',
  tagDescription: 'Prompts and their queue',
  operationId: 'listPrompts',
  params: pathParams('session_id'),
  data: z.object({ active: promptSchema.nullable(), queued: z.array(promptSchema) }),
  errors: ['session.not_found'],
  handler: ({ params, app }) => app.sessions.use(params.session_id, ({ agents }) => agents.main.prompts()),
});
