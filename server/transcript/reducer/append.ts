/**
 * Inserts a chunk at an offset in UTF-16 units. Undefined when it does not fit: it begins after the text's end, or
 * contradicts it. A chunk that the text contains already changes nothing, so appends are idempotent.
 */
export function appended(text: string, offset: number, piece: string): string | undefined {
  if (offset > text.length) return undefined;
  if (text.startsWith(piece, offset)) return text;
  return piece.startsWith(text.slice(offset)) ? text.slice(0, offset) + piece : undefined;
}
