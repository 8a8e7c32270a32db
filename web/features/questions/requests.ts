/** The calls about questions, on top of the client's own. */
import { ApiError } from '../../client/errors.ts';
import type { Rest } from '../../client/rest.ts';
import type { Question } from './open.ts';

export type Answer =
  | { kind: 'single'; option_id: string }
  | { kind: 'multi'; option_ids: string[] }
  | { kind: 'other'; text: string }
  | { kind: 'multi_with_other'; option_ids: string[]; other_text: string }
  | { kind: 'skipped' };

/** `gone`: it was answered, dismissed or expired before; what was sent has no effect. */
export type Outcome = 'taken' | 'gone';

/** A dismissal succeeds with a code of its own. */
const DISMISSED = 40909;
const GONE = [40405, 40902, 41002];

/** Answers a question; items that are missing count as skipped. */
export const answerQuestion = (rest: Rest, question: Question, answers: Record<string, Answer>): Promise<Outcome> =>
  outcomeOf(rest.request('POST', pathOf(question), { body: { answers } }));

/** Ends a question without an answer; the agent goes on. */
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
