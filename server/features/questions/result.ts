/** The tool result with the answers to questions. */
const NOTE = 'The user dismissed the questions without an answer. Go on with what you know, or end your turn.';

/** Renders JSON of question text to answer; with a note if there are none, because the questions were dismissed. */
export function questionResult(answers: Record<string, string>): string {
  return JSON.stringify(Object.keys(answers).length === 0 ? { answers, note: NOTE } : { answers });
}
