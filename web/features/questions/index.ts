import type { Feature } from '../feature.ts';
import AskedBody from './AskedBody.vue';
import { openQuestions } from './open.ts';
import QuestionCards from './QuestionCards.vue';
import { questionViews } from './views.ts';

export const questions: Feature = {
  ...questionViews,
  bodies: { asked: AskedBody },
  cards: QuestionCards,
  pending: (view) =>
    openQuestions(view).map(({ question_id, tool_call_id }) => ({
      id: question_id,
      toolCallId: tool_call_id,
      state: 'waits for your answer',
      activity: 'Waiting for your answer',
    })),
};
