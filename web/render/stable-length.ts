/**
 * Length of the prefix of a growing text that need not be rendered again: up to the last blank line outside of a fence
 * and before unindented text. 0 when there is none.
 */
export function stableLength(text: string): number {
  let fence: string | undefined;
  let stable = 0;
  let at = 0;
  let blank = false;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (!fence && blank && /^[^\s>*+\-\d|]/.test(line)) stable = at;
    if (mark && !fence) fence = mark;
    else if (mark && fence && mark.startsWith(fence)) fence = undefined;
    blank = line.trim() === '';
    at += line.length + 1;
  }
  return stable;
}
