/** Text that is cut at any position. */

/** Replaces halves of characters, which parsers of JSON may refuse. */
export const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');

/** The length of the text without a half character at its end, whose other half may follow. */
export function completeLength(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

/** The last line that has a letter or a digit, unlike the end of a code block; empty without one. */
export const lastLine = (text: string): string =>
  text
    .split('\n')
    .findLast((line) => /[\p{L}\p{N}]/u.test(line))
    ?.trim() ?? '';
