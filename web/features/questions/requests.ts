/** REST calls about questions. */
import { shallowReactive } from 'vue';
import { ApiError, type Rest } from '@service-code/client';
import type { Question } from './open.ts';

export type Answer =
  | { kind: 'single'; option_id: string }
  | { kind: 'multi'; option_ids: string[] }
  | { kind: 'other'; text: string }
  | { kind: 'multi_with_other'; option_ids: string[]; other_text: string }
  | { kind: 'skipped' };

/** `gone`: the question was answered, dismissed or expired before; the request has no effect. */
export type Outcome = 'taken' | 'gone';

/** `question.dismissed`, the code of a successful dismissal. */
const DISMISSED = 40909;
const GONE = [40404, 40405, 40902, 41002];

const over = shallowReactive(new Set<string>());

/** Whether an answer was refused because the question was over: the card closes without waiting for the event. */
export const isOver = ({ question_id }: Pick<Question, 'question_id'>): boolean => over.has(question_id);

/** Answers a question; missing items are treated as skipped. */
export const answerQuestion = (rest: Rest, question: Question, answers: Record<string, Answer>): Promise<Outcome> =>
  outcomeOf(
    question,
    rest.request('POST /api/v1/sessions/{session_id}/questions/{question_id}', {
      path: pathOf(question),
      body: { answers },
    }),
  );

/** Dismisses a question without an answer; the agent continues. */
export const dismissQuestion = (rest: Rest, question: Question): Promise<Outcome> =>
  outcomeOf(
    question,
    rest.request('POST /api/v1/sessions/{session_id}/questions/{question_id}:dismiss', { path: pathOf(question) }),
  );

const pathOf = ({ session_id, question_id }: Question) => ({ session_id, question_id });

async function outcomeOf({ question_id }: Question, reply: Promise<unknown>): Promise<Outcome> {
  try {
    await reply;
    return 'taken';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === DISMISSED) return 'taken';
    if (!GONE.includes(error.code)) throw error;
    over.add(question_id);
    return 'gone';
  }
}
