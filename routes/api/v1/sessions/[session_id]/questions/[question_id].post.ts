import * as z from 'zod';
import { questions } from '#server/features/questions/questions.ts';
import { answerQuestionSchema } from '#schema/rest/interaction.ts';
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
  bodyLast: true,
  load: ({ params: { session_id, question_id }, app }) =>
    app.sessions.use(session_id, ({ context }) => context.feature(questions).assertPending(question_id)),
  handler: ({ params, body, caller, app }) =>
    app.sessions.use(params.session_id, async ({ context }) => ({
      resolved: true as const,
      ...(await context.feature(questions).answer(params.question_id, body, caller)),
    })),
});
