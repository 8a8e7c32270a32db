/** Marks the changed words of lines that replace each other. */
import { diffWordsWithSpace } from 'diff';
import type { DiffLine } from './line-diff.ts';

export interface WordRun {
  text: string;
  isChanged: boolean;
}

/** A line of a diff; `words` where it replaces a similar line. */
export type MarkedLine = DiffLine & { words?: readonly WordRun[] };

/** Longer lines would block the page. */
const MAX_CHARS = 1000;
/** Below this share of equal characters the marks would be noise. */
const SIMILAR = 0.4;

/** Each removed line is compared with the added one that replaces it. */
export function markWords(lines: readonly DiffLine[]): MarkedLine[] {
  const marked: MarkedLine[] = [...lines];
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at]?.kind !== 'removed') continue;
    const start = at;
    while (lines[at]?.kind === 'removed') at += 1;
    const removed = at - start;
    let added = 0;
    while (lines[at + added]?.kind === 'added') added += 1;
    const pairs = removed === added ? removed : 0;
    for (let index = 0; index < pairs; index += 1) markPair(marked, start + index, at + index);
    at += added - 1;
  }
  return marked;
}

function markPair(lines: MarkedLine[], before: number, after: number): void {
  const [old, now] = [lines[before], lines[after]];
  if (!old || !now || old.text.length + now.text.length > MAX_CHARS) return;
  const changes = diffWordsWithSpace(old.text, now.text);
  const same = changes.reduce(
    (sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length),
    0,
  );
  if (same < SIMILAR * Math.max(old.text.trim().length, now.text.trim().length)) return;
  const run = ({ value, added, removed }: (typeof changes)[number]): WordRun => ({
    text: value,
    isChanged: added || removed,
  });
  lines[before] = { ...old, words: changes.filter(({ added }) => !added).map(run) };
  lines[after] = { ...now, words: changes.filter(({ removed }) => !removed).map(run) };
}
