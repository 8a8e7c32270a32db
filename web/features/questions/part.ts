/** The questions that are open, of all agents. */
import type { Question } from '../../client/types.ts';
import type { ViewPart } from '../../state/view-part.ts';

export const questionsPart: ViewPart<readonly Question[]> = {
  name: 'questions',
  initial: [],
  snapshot: (_, snapshot) => snapshot.pending_questions,
  event(open, frame) {
    switch (frame.type) {
      case 'event.question.requested': {
        const { payload } = frame;
        return open.some(({ question_id }) => question_id === payload.question_id) ? open : [...open, payload];
      }
      case 'event.question.answered':
      case 'event.question.dismissed':
        return open.filter(({ question_id }) => question_id !== frame.payload.question_id);
      default:
        return open;
    }
  },
};
