/** The part of the composer's text that is being completed. */

export interface TypedPart {
  start: number;
  /** Index after its last character. */
  end: number;
  /** Its characters before the caret, without those that open the list. */
  query: string;
}

/** The text that replaces a typed part. */
export interface Insertion {
  text: string;
  /** Whether typing continues directly after it; default: a space follows. */
  isOpen?: boolean;
}

/** Replaces the typed part; returns the new caret. */
export function insertAt(
  text: string,
  { start, end }: Pick<TypedPart, 'start' | 'end'>,
  { text: inserted, isOpen = false }: Insertion,
): { text: string; caret: number } {
  const rest = text.slice(end);
  const space = isOpen || /^[ \t]/.test(rest) ? '' : ' ';
  // The caret is after the space, because the list would open again directly after the inserted text.
  const caret = start + inserted.length + (isOpen ? 0 : 1);
  return { text: text.slice(0, start) + inserted + space + rest, caret };
}
