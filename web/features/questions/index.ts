import { partOf } from '../../state/view-part.ts';
import type { Feature } from '../feature.ts';
import AskedBody from './AskedBody.vue';
import { questionsPart } from './part.ts';
import QuestionCards from './QuestionCards.vue';
import { questionViews } from './views.ts';

export const questions: Feature = {
  ...questionViews,
  part: questionsPart,
  bodies: { asked: AskedBody },
  cards: QuestionCards,
  pending: (view) =>
    partOf(view, questionsPart).map(({ tool_call_id }) => ({
      toolCallId: tool_call_id,
      state: 'waits for your answer',
      activity: 'Waiting for your answer',
    })),
};
