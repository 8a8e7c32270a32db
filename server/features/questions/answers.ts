/** Converts a user's answers, which reference items and options by id, to the texts that the model receives. */
import type { Question, QuestionAnswer } from '#schema/rest/interaction.ts';

/** Returns question text -> label, labels joined with `, `, or free text. An unknown id is used as its own text. */
export function answerTexts(question: Question, answers: Record<string, QuestionAnswer>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(answers).flatMap(([itemId, answer]) => {
      const item = question.questions.find(({ id }) => id === itemId);
      const label = (optionId: string) => item?.options.find(({ id }) => id === optionId)?.label ?? optionId;
      const text = answerText(answer, label);
      return text === undefined ? [] : [[item?.question ?? itemId, text]];
    }),
  );
}

function answerText(answer: QuestionAnswer, label: (optionId: string) => string): string | undefined {
  switch (answer.kind) {
    case 'single':
      return label(answer.option_id);
    case 'multi':
      return answer.option_ids.map(label).join(', ');
    case 'other':
      return answer.text;
    case 'multi_with_other':
      return [...answer.option_ids.map(label), answer.other_text].join(', ');
    case 'skipped':
      return undefined;
  }
}
