/** The text in lower case, as long as before: what would change its length keeps its case, so that offsets hold. */
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
