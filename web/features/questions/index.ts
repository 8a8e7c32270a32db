import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { openQuestions } from './open.ts';
import { questionViews } from './views.ts';

const AskedBody = defineAsyncComponent(() => import('./AskedBody.vue'));
const QuestionCards = defineAsyncComponent(() => import('./QuestionCards.vue'));

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
