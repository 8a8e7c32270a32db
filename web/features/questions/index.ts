import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';
import { openQuestions } from './open.ts';
import { isOver } from './requests.ts';
import { questionViews } from './views.ts';

const AskedBody = defineAsyncComponent(() => import('./AskedBody.vue'));
const QuestionCards = defineAsyncComponent(() => import('./QuestionCards.vue'));

export const questions: Feature = {
  ...questionViews,
  bodies: { asked: AskedBody },
  cards: QuestionCards,
  pending: (view) =>
    openQuestions(view)
      .filter((question) => !isOver(question))
      .map(({ question_id, agent_id, tool_call_id }) => ({
        id: question_id,
        agentId: agent_id,
        toolCallId: tool_call_id,
        state: t('questions.waits'),
        activity: t('activity.question'),
      })),
};
