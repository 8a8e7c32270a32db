export const questions = {
  'questions.label': 'Question',
  'questions.heading': ({ count }: { count: number }) =>
    count === 1 ? 'The agent asks' : `The agent asks ${count} questions`,
  'questions.answer': 'Answer',
  'questions.skip': 'Skip',
  'questions.skip-about': 'The agent continues without an answer',
  'questions.clear': 'Clear',
  'questions.skipped': ({ skipped, total }: { skipped: number; total: number }) =>
    `${skipped} of ${total} will be skipped`,
  'questions.any-number': 'Pick any number.',
  'questions.other': 'Other',
  'questions.own-answer': ({ label }: { label: string }) => `${label}: your own answer`,
  'questions.add-note': 'Add a note',
  'questions.note': 'Note',
  'questions.note-hint': 'Add a note to your answer (optional)',
  'questions.elsewhere': 'The question was answered elsewhere or is over; your answer was not used.',
  'questions.over': 'The question was answered elsewhere or is over.',

  'questions.waits': 'waits for your answer',
  'questions.more': ({ count }: { count: number }) => ` (+${count} more)`,
  'questions.noAnswer': 'No answer',
} as const;
