/** Why there is no page or no results, in a sentence for the model. */
import { errorMessage } from '#server/errors/service-error.ts';

/** `message` goes on behind what failed: "the page …", "the search service …". */
export class WebFailure extends Error {
  override readonly name = 'WebFailure';
}

/** What a connection broke with. Where several addresses were tried there is only a code. */
export function reasonOf(error: unknown): string {
  const text = errorMessage(error);
  if (text !== '' || !(error instanceof Error)) return text;
  return 'code' in error ? String(error.code) : error.name;
}
