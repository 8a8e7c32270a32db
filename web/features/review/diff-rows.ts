/** Numbered lines of a difference, for both views of it. */
import { diffWordsWithSpace } from 'diff';
import { lineDiff, type DiffLine } from '../../render/line-diff.ts';
import { unifiedLines } from '../../render/unified-diff.ts';

/** Numbers start at 1; undefined where the line's position in the file is unknown, or it is in the other file only. */
export interface DiffRow extends DiffLine {
  before?: number | undefined;
  after?: number | undefined;
}

/** A line of the view with two columns: indices of rows. A row in both columns is unchanged or a position. */
export interface DiffPair {
  left: number | undefined;
  right: number | undefined;
}

/** A part of a changed line. */
export interface Segment {
  text: string;
  changed: boolean;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)/;

/** Sets the numbers of lines that follow a position such as `@@ -12,3 +14,4 @@`. */
function numbered(lines: readonly DiffLine[], from?: { before: number; after: number }): DiffRow[] {
  let next = from && { ...from };
  return lines.map(({ kind, text }) => {
    if (kind === 'place') {
      const [, before, after] = HUNK.exec(text) ?? [];
      if (before !== undefined && after !== undefined) next = { before: Number(before), after: Number(after) };
      return { kind, text };
    }
    const before = kind === 'added' || !next ? undefined : next.before++;
    const after = kind === 'removed' || !next ? undefined : next.after++;
    return { kind, text, before, after };
  });
}

/** The rows of a unified diff. */
export const unifiedRows = (diff: string): DiffRow[] => numbered(unifiedLines(diff));

/** The rows of a replaced text, whose position in its file is unknown. */
export const replacedRows = (before: string, after: string): DiffRow[] => lineDiff(before, after);

/** The rows of a text that is the whole file. */
export const writtenRows = (content: string): DiffRow[] => numbered(lineDiff('', content), { before: 1, after: 1 });

const isChange = ({ kind }: DiffRow) => kind === 'added' || kind === 'removed';

/** Indices of the rows at which a group of changed lines starts. */
export function changeStarts(rows: readonly DiffRow[]): number[] {
  return rows.flatMap((row, at) => {
    const before = rows[at - 1];
    return isChange(row) && !(before && isChange(before)) ? [at] : [];
  });
}

export function countLines(rows: readonly DiffRow[]): { added: number; removed: number } {
  let [added, removed] = [0, 0];
  for (const { kind } of rows) {
    if (kind === 'added') added += 1;
    if (kind === 'removed') removed += 1;
  }
  return { added, removed };
}

/** Pairs the removed lines of each group with the added ones that follow them, in order. */
export function pairRows(rows: readonly DiffRow[]): DiffPair[] {
  const pairs: DiffPair[] = [];
  let [removed, added]: [number[], number[]] = [[], []];
  const finish = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      pairs.push({ left: removed[at], right: added[at] });
    }
    [removed, added] = [[], []];
  };
  rows.forEach(({ kind }, at) => {
    if (kind === 'added') added.push(at);
    else if (kind === 'removed') {
      if (added.length > 0) finish();
      removed.push(at);
    } else {
      finish();
      pairs.push({ left: at, right: at });
    }
  });
  finish();
  return pairs;
}

/** The index of the row that replaces, or is replaced by, a row. */
export function partnersOf(pairs: readonly DiffPair[]): ReadonlyMap<number, number> {
  const partners = new Map<number, number>();
  for (const { left, right } of pairs) {
    if (left === undefined || right === undefined || left === right) continue;
    partners.set(left, right);
    partners.set(right, left);
  }
  return partners;
}

/** Longer lines, such as minified code, have no marks: comparing their words takes too long. */
const LONGEST_LINE = 1000;
/** Lines with less in common than this share of their characters were replaced, rather than changed. */
const LEAST_COMMON = 0.3;

/** The changed parts of a line, compared with the one that it replaces or that replaces it. */
export function segmentsOf(line: DiffRow, partner: DiffRow | undefined): Segment[] {
  const whole = [{ text: line.text, changed: false }];
  if (!partner || line.text.length > LONGEST_LINE || partner.text.length > LONGEST_LINE) return whole;
  const isRemoved = line.kind === 'removed';
  const [before, after] = isRemoved ? [line.text, partner.text] : [partner.text, line.text];
  const changes = diffWordsWithSpace(before, after);
  const common = changes.reduce((sum, part) => (part.added || part.removed ? sum : sum + part.value.length), 0);
  if (common < LEAST_COMMON * Math.max(before.length, after.length)) return whole;
  return changes.flatMap(({ value, added, removed }) => {
    if (isRemoved ? added : removed) return [];
    return [{ text: value, changed: added || removed }];
  });
}
