/** The lists of the palette: the first character of the text selects one, other texts are searched for in sessions. */
import type { SearchOptions } from './search-query.ts';

export interface PaletteRequest {
  /** The text at the start. */
  text: string;
  /** Where the search looks; default: everywhere. */
  scope?: SearchOptions['scope'];
  /** Whether a chosen session opens in a pane to the right. */
  isBeside?: boolean;
}

export const COMMAND_MARK = '>';
export const SESSION_MARK = '@';

/** The mark at the start of a text, if it is one of these, and the rest of the text. */
export function splitMark(text: string, marks: readonly string[]): { mark: string | undefined; query: string } {
  const start = text.trimStart();
  const mark = marks.find((known) => start.startsWith(known));
  return mark === undefined ? { mark, query: text } : { mark, query: start.slice(mark.length).trim() };
}

/** Whether all words of a query occur in a text, in any order and case. */
export function matchesWords(text: string, query: string): boolean {
  const lower = text.toLowerCase();
  const words = query.toLowerCase().split(/\s+/);
  return words.every((word) => lower.includes(word));
}
