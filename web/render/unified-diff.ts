/** Converts a unified diff, as git writes it, to lines to draw. */
import type { DiffLine } from './line-diff.ts';

const kinds: Record<string, DiffLine['kind']> = { '+': 'added', '-': 'removed', ' ': 'same', '@': 'place' };

/**
 * Returns the changed lines with their context. Headers are reduced to the files' names, if there are several, and to
 * git's message about a file without lines. CRLF is a line end where no line has another one.
 */
export function unifiedLines(diff: string): DiffLine[] {
  const lines = diff.replace(/\n$/, '').split('\n');
  const several = lines.filter((line) => line.startsWith('diff ')).length > 1;
  let inHeader = true;
  const drawn = lines.flatMap((line): DiffLine[] => {
    if (line.startsWith('diff ')) {
      inHeader = true;
      return several ? [{ kind: 'place', text: line.replace(/^diff --\S+ /, '') }] : [];
    }
    if (line.startsWith('@@')) inHeader = false;
    if (inHeader)
      return /^(Binary files|old mode|new mode|rename|similarity)/.test(line) ? [{ kind: 'place', text: line }] : [];
    const kind = kinds[line[0] ?? ''];
    if (kind === 'place') return [{ kind, text: line }];
    // `\ No newline at end of file`
    return kind ? [{ kind, text: line.slice(1) }] : [{ kind: 'place', text: line.replace(/^\\ /, '') }];
  });
  const isCrlf = drawn.every(({ kind, text }) => kind === 'place' || text.endsWith('\r'));
  return isCrlf ? drawn.map(({ kind, text }) => ({ kind, text: text.replace(/\r$/, '') })) : drawn;
}
