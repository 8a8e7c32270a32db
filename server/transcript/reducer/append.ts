/**
 * The text with a piece that begins at an offset, in UTF-16 units; undefined when it does not fit: it begins behind the
 * end, or the text that is there says something else. A piece that is there already changes nothing.
 */
export function appended(text: string, offset: number, piece: string): string | undefined {
  if (offset > text.length) return undefined;
  if (text.startsWith(piece, offset)) return text;
  return piece.startsWith(text.slice(offset)) ? text.slice(0, offset) + piece : undefined;
}
