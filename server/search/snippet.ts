/** The part of a text that a hit displays. */
import { normalizedText, type Range } from '#server/text/normalized-text.ts';
import { wordsOf } from '#server/text/word-runs.ts';
import type { Query } from './query.ts';

/** A query of a few terms may repeat them in many words. */
const MOST_WANTED = 100;

/** UTF-16 units on each side of the match. */
const CONTEXT_UNITS = 80;

/** The earliest occurrence of one of the wanted texts in `text`, the longest at that place. */
function earliest(text: string, wanted: readonly string[]): Range | undefined {
  let found: Range | undefined;
  for (const each of wanted) {
    const start = each === '' ? -1 : text.indexOf(each);
    if (start === -1) continue;
    const end = start + each.length;
    if (!found || start < found.start || (start === found.start && end > found.end)) found = { start, end };
  }
  return found;
}

const isLowSurrogate = (unit: number) => unit >= 0xdc_00 && unit <= 0xdf_ff;

/** Whether a cut at this position would divide a surrogate pair. */
const dividesPair = (text: string, at: number) => at > 0 && at < text.length && isLowSurrogate(text.charCodeAt(at));

const collapsed = (text: string) => text.replaceAll(/\s+/g, ' ');

function cut(text: string, start: number, end: number): string {
  const from = dividesPair(text, start) ? start + 1 : start;
  const to = dividesPair(text, end) ? end - 1 : end;
  const piece = collapsed(text.slice(from, to));
  return `${from > 0 ? '…' : ''}${piece}${to < text.length ? '…' : ''}`;
}

/** The texts that a snippet displays: the query itself and, for `terms`, its words. */
export function wantedTexts({ text, terms, mode }: Pick<Query, 'text' | 'terms' | 'mode'>): string[] {
  return mode === 'literal' ? [text] : [...new Set([text, ...terms, ...wordsOf(text)])].slice(0, MOST_WANTED);
}

/** Returns the surroundings of the first wanted text; without one, the beginning of the text. */
export function snippetOf(text: string, wanted: readonly string[]): string {
  const found = normalizedText(text);
  const match = earliest(found.text, wanted);
  if (!match) return cut(text, 0, Math.min(text.length, 2 * CONTEXT_UNITS));
  const { start, end } = found.original(match);
  return cut(text, Math.max(0, start - CONTEXT_UNITS), Math.min(text.length, end + CONTEXT_UNITS));
}
