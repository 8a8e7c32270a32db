/** Marks the words of a query in the snippet of a hit, by the server's rules of matching. */
import { normalizedText, normalizeText, queryTermsOfRun, type Range, runsOf } from '@service-code/client/text';
import type { ParsedQuery } from './search-query.ts';

export interface Segment {
  text: string;
  isMarked: boolean;
}

function occurrences(text: string, wanted: string, offset = 0): Range[] {
  const found: Range[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    found.push({ start: offset + at, end: offset + at + wanted.length });
  }
  return found;
}

/** Whole words; of scripts without spaces pairs of neighbours anywhere, and a character that is alone. */
function termRanges(text: string, query: string): Range[] {
  const wanted = [...runsOf(query)];
  const words = new Set(wanted.filter(({ isUnspaced }) => !isUnspaced).map((run) => run.text));
  const pairs = wanted.filter(({ isUnspaced }) => isUnspaced).flatMap((run) => queryTermsOfRun(run.text));
  const whole = [...runsOf(text)].flatMap((run): Range[] => {
    if (run.isUnspaced) return pairs.flatMap((pair) => occurrences(run.text, pair, run.start));
    return words.has(run.text) ? [{ start: run.start, end: run.start + run.text.length }] : [];
  });
  if (whole.length > 0) return whole;
  // The snippet may be cut around a part of a longer word that precedes the whole one.
  return [...words].flatMap((word) => occurrences(text, word));
}

/** Joins ranges that overlap or touch. */
function merged(ranges: readonly Range[]): Range[] {
  const all: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else all.push({ ...range });
  }
  return all;
}

/** Splits a snippet into marked and unmarked parts, which together are the snippet. */
export function markedSegments(snippet: string, { mode, query }: ParsedQuery): Segment[] {
  const { text, original } = normalizedText(snippet);
  // White space of a snippet is collapsed.
  const wanted = normalizeText(query).replaceAll(/\s+/g, ' ');
  const found = mode === 'terms' ? termRanges(text, wanted) : wanted === '' ? [] : occurrences(text, wanted);
  const segments: Segment[] = [];
  let at = 0;
  for (const { start, end } of merged(found.map(original))) {
    if (start > at) segments.push({ text: snippet.slice(at, start), isMarked: false });
    segments.push({ text: snippet.slice(start, end), isMarked: true });
    at = end;
  }
  if (at < snippet.length) segments.push({ text: snippet.slice(at), isMarked: false });
  return segments;
}
