/** Questions to the user in the transcript. */
import type { EventRecord } from '#server/journal/records.ts';
import { answeredOps, askedOps } from '#server/transcript/interactions.ts';
import type { RecordMappers } from '#server/transcript/transcript-rows.ts';

type Item = EventRecord<'event.question.requested'>['questions'][number];

/** Converts an item. Ids are omitted, because clients derive them from the indices. */
const shownItem = ({ question, header, options, body, multi_select, other_label, other_description }: Item) => ({
  question,
  ...(header === undefined ? {} : { header }),
  options: options.map(({ label, description }) => ({ label, ...(description === undefined ? {} : { description }) })),
  ...(body === undefined ? {} : { body }),
  ...(multi_select === undefined ? {} : { multiSelect: multi_select }),
  ...(other_label === undefined ? {} : { otherLabel: other_label }),
  ...(other_description === undefined ? {} : { otherDescription: other_description }),
});

export const questionsTranscript: RecordMappers = {
  'event.question.requested'(agent, { question_id, turn_id, tool_call_id, questions }) {
    const request = {
      id: question_id,
      agentId: agent.id,
      ...(turn_id === undefined ? {} : { turnId: turn_id }),
      ...(tool_call_id === undefined ? {} : { toolCallId: tool_call_id }),
      questions: questions.map(shownItem),
    };
    return askedOps(agent, { interactionId: question_id, interactionKind: 'question', request }, tool_call_id);
  },
  'event.question.answered': (agent, { question_id, answers, x }) =>
    answeredOps(agent, question_id, 'answered', { response: { answers } }, x?.by),
  'event.question.dismissed': (agent, { question_id, x }) =>
    // A question that was closed by the server's stop was dismissed by no client.
    answeredOps(agent, question_id, 'dismissed', x?.cause === 'server_stopped' ? {} : { response: null }, x?.by),
};
