/** Response of a search service. */
import * as z from 'zod';
import { parseJson } from '#server/text/json.ts';
import { WebFailure } from './failure.ts';

const optionalText = z
  .string()
  .nullish()
  .transform((text) => text ?? '');

const answerSchema = z.object({
  search_results: z.array(
    z.object({
      title: optionalText,
      url: z.string(),
      snippet: optionalText,
      date: optionalText,
      site_name: optionalText,
    }),
  ),
});
export type SearchResult = z.infer<typeof answerSchema>['search_results'][number];

/** Throws `WebFailure`. */
export function searchResults(answer: string): SearchResult[] {
  try {
    return answerSchema.parse(parseJson(answer)).search_results;
  } catch (error) {
    throw new WebFailure('sent no list of results', { cause: error });
  }
}
