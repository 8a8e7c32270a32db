import { z } from 'zod';
import { questions } from '#server/features/questions/questions.ts';
import { answerQuestionSchema } from '#schema/interaction.ts';
import { isoTime } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Answer a question; the first answer wins',
  tag: 'questions',
  params: pathParams('session_id', 'question_id'),
  body: answerQuestionSchema,
  data: z.object({ resolved: z.literal(true), resolved_at: isoTime }),
  errors: ['session.not_found', 'question.not_found', 'session.busy', 'approval.already_resolved', 'question.expired'],
  // The id comes before the fields of the body.
  load: async ({ params: { session_id, question_id }, app }) => {
    const { context } = await app.sessions.open(session_id);
    const asked = context.feature(questions);
    await asked.assertPending(question_id);
    return asked;
  },
  handler: async ({ params, body, resource }) => ({
    resolved: true as const,
    ...(await resource.answer(params.question_id, body)),
  }),
});
