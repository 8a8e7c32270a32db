/** Line diff of two texts. */
import { diffLines } from 'diff';

export interface DiffLine {
  /** `place`: the position of the following lines in the file. */
  kind: 'same' | 'added' | 'removed' | 'place';
  text: string;
}

/** Limits the time for texts that have little in common. */
const TIMEOUT_MS = 200;

const hasLoneLf = (text: string) => /(?<!\r)\n/.test(text);

/**
 * Lines of `before` and `after` in order; all removed, then all added, if the comparison times out. CRLF is a line end
 * where both texts have no other one; else the CR remains, because it is a difference.
 */
export function lineDiff(before: string, after: string, timeoutMs = TIMEOUT_MS): DiffLine[] {
  if (hasLoneLf(before) || hasLoneLf(after)) return changedLines(before, after, timeoutMs);
  return changedLines(before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n'), timeoutMs);
}

function changedLines(before: string, after: string, timeout: number): DiffLine[] {
  const changes = diffLines(before, after, { timeout });
  if (!changes) return [...lines(before, 'removed'), ...lines(after, 'added')];
  return changes.flatMap((change) => lines(change.value, change.added ? 'added' : change.removed ? 'removed' : 'same'));
}

function lines(text: string, kind: DiffLine['kind']): DiffLine[] {
  if (text === '') return [];
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => ({ kind, text: line }));
}
