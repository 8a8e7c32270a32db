import * as z from 'zod';
import { ServiceError } from '#server/errors/service-error.ts';
import { questions } from '#server/features/questions/questions.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Dismiss a question; the reply has code 40909',
  tag: 'questions',
  params: pathParams('session_id', 'question_id'),
  data: z.never(),
  errors: [
    'session.not_found',
    'question.not_found',
    'session.busy',
    'approval.already_resolved',
    'question.dismissed',
    'question.expired',
  ],
  handler: async ({ params, caller, app }) => {
    const { dismissed_at } = await app.sessions.use(params.session_id, ({ context }) =>
      context.feature(questions).dismiss(params.question_id, caller),
    );
    throw new ServiceError('question.dismissed', `question ${params.question_id} dismissed`, {
      data: { dismissed: true, dismissed_at },
    });
  },
});
