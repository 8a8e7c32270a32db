/** What the model is told of the answers to its questions. */
const NOTE = 'The user dismissed the questions without an answer. Go on with what you know, or end your turn.';

/** JSON of question text to answer; none at all means that they were dismissed. */
export function questionResult(answers: Record<string, string>): string {
  return JSON.stringify(Object.keys(answers).length === 0 ? { answers, note: NOTE } : { answers });
}
