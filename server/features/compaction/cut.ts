/** Cuts texts to a number of tokens, by the rule that estimates them. */

const CUT = '…';
const ASCII_TOKENS = 1 / 4;

const tokensOfUnit = (unit: number): number => (unit < 0x80 ? ASCII_TOKENS : 1);
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Returns the beginning of a text that fits `tokens`: the whole text if it fits, empty if no character does. */
export function textHead(text: string, tokens: number): string {
  let left = tokens - 1;
  let end = 0;
  while (end < text.length) {
    left -= tokensOfUnit(text.charCodeAt(end));
    if (left < 0) break;
    end += 1;
  }
  if (end === text.length) return text;
  if (isLowSurrogate(text.charCodeAt(end))) end -= 1;
  return end <= 0 ? '' : text.slice(0, end) + CUT;
}

/** Returns the end of a text that fits `tokens`, like `textHead`. */
export function textTail(text: string, tokens: number): string {
  let left = tokens - 1;
  let start = text.length;
  while (start > 0) {
    left -= tokensOfUnit(text.charCodeAt(start - 1));
    if (left < 0) break;
    start -= 1;
  }
  if (start === 0) return text;
  if (isLowSurrogate(text.charCodeAt(start))) start += 1;
  return start >= text.length ? '' : CUT + text.slice(start);
}
