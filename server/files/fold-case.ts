/** Lower-cases text without changing its length, so that offsets stay valid: other characters keep their case. */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  let folded = '';
  for (const character of text) {
    const other = character.toLowerCase();
    folded += other.length === character.length ? other : character;
  }
  return folded;
}
