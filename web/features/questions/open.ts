/** The open questions of all agents. */
import type { Question as WireQuestion } from '@service-code/client';
import { isObject, textIn } from '../../state/is-object.ts';
import { openRequests } from '../../state/open-requests.ts';
import type { SessionView } from '../../state/session-view.ts';

export type Question = Pick<WireQuestion, 'question_id' | 'session_id' | 'tool_call_id' | 'questions'> & {
  agent_id: string;
};
type Item = Question['questions'][number];

const listIn = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Answers refer to items and options by index. */
function itemOf(asked: Record<string, unknown>, at: number): Item {
  const [header, body] = [textIn(asked, 'header'), textIn(asked, 'body')];
  const [label, description] = [textIn(asked, 'otherLabel'), textIn(asked, 'otherDescription')];
  return {
    id: `q_${at}`,
    question: textIn(asked, 'question') ?? '',
    options: listIn(asked['options']).map((option, place) => {
      const about = textIn(option, 'description');
      return {
        id: `opt_${at}_${place}`,
        label: textIn(option, 'label') ?? '',
        ...(about !== undefined && { description: about }),
      };
    }),
    ...(header !== undefined && { header }),
    ...(body !== undefined && { body }),
    ...(asked['multiSelect'] === true && { multi_select: true }),
    ...(label !== undefined && { other_label: label }),
    ...(description !== undefined && { other_description: description }),
  };
}

export const openQuestions = (view: Pick<SessionView, 'agents' | 'id'>): Question[] =>
  openRequests(view, 'question').map(({ id, agentId, toolCallId, request }) => ({
    question_id: id,
    session_id: view.id,
    agent_id: agentId,
    tool_call_id: toolCallId,
    questions: listIn(request['questions']).map(itemOf),
  }));
