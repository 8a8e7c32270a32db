/** REST calls about questions. */
import { ApiError } from '../../client/errors.ts';
import type { Rest } from '../../client/rest.ts';
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
const GONE = [40405, 40902, 41002];

/** Answers a question; missing items are treated as skipped. */
export const answerQuestion = (rest: Rest, question: Question, answers: Record<string, Answer>): Promise<Outcome> =>
  outcomeOf(rest.request('POST', pathOf(question), { body: { answers } }));

/** Dismisses a question without an answer; the agent continues. */
export const dismissQuestion = (rest: Rest, question: Question): Promise<Outcome> =>
  outcomeOf(rest.request('POST', `${pathOf(question)}:dismiss`));

const pathOf = ({ session_id, question_id }: Question) =>
  `sessions/${encodeURIComponent(session_id)}/questions/${encodeURIComponent(question_id)}`;

async function outcomeOf(reply: Promise<unknown>): Promise<Outcome> {
  try {
    await reply;
    return 'taken';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === DISMISSED) return 'taken';
    if (GONE.includes(error.code)) return 'gone';
    throw error;
  }
}
