/** The longest beginning of the text that has at most so many bytes of UTF-8, without a part of a character. */
export function cutBytes(text: string, maxBytes: number): string {
  // No character takes more than three bytes a unit.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
