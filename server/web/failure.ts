/** The reason of a missing page or result, as a sentence for the model. */
import { errorMessage } from '#server/errors/service-error.ts';

/** `message` continues the sentence that the caller begins: "the page …", "the search service …". */
export class WebFailure extends Error {
  override readonly name = 'WebFailure';
}

/** The reason of a broken connection. If several addresses were tried there is only a code. */
export function reasonOf(error: unknown): string {
  const text = errorMessage(error);
  if (text !== '' || !(error instanceof Error)) return text;
  return 'code' in error ? String(error.code) : error.name;
}
