import * as z from 'zod';
import { pendingQuestions } from '#server/features/questions/questions.ts';
import { questionSchema } from '#schema/rest/interaction.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Pending questions of all agents, oldest first',
  tag: 'questions',
  tagDescription: 'Structured questions',
  params: pathParams('session_id'),
  query: z.object({ status: z.literal('pending') }),
  data: z.object({ items: z.array(questionSchema) }),
  errors: ['session.not_found'],
  handler: async ({ params, app }) => {
    const { state } = await app.sessions.read(params.session_id);
    return { items: pendingQuestions(state) };
  },
});
