/** An entry of a tree packed into a small integer: its kind, the views that see it, and the characters of its name. */
import type { EntryKind } from './changes.ts';

const KINDS: readonly EntryKind[] = ['file', 'directory', 'symlink'];
const KIND_BITS = 0b11;
const DIRECTORY = KINDS.indexOf('directory');
/** Views that see an entry; both flags may be set. */
export const REPORTED = 0b01_00;
export const SEARCHED = 0b10_00;
export type Seen = number;
const SEEN_BITS = REPORTED | SEARCHED;
const CHARACTERS_SHIFT = 4;
/** The flag of every character other than `a` to `z`. */
const OTHER = 1 << 26;

export type Entry = number;

/** Returns a flag for each letter of a lower-case text and one for all others. A text has all flags of its parts. */
export function charactersOf(lower: string): number {
  let flags = 0;
  for (let at = 0; at < lower.length; at++) {
    const letter = lower.charCodeAt(at) - 97;
    flags |= letter >= 0 && letter < 26 ? 1 << letter : OTHER;
  }
  return flags;
}

export const entryOf = (kind: EntryKind, seen: Seen, characters: number): Entry =>
  (characters << CHARACTERS_SHIFT) | seen | KINDS.indexOf(kind);

export const kindOfEntry = (entry: Entry): EntryKind => KINDS[entry & KIND_BITS] ?? 'file';
export const isDirectoryEntry = (entry: Entry): boolean => (entry & KIND_BITS) === DIRECTORY;
export const seenOf = (entry: Entry): Seen => entry & SEEN_BITS;
export const withSeen = (entry: Entry, seen: Seen): Entry => (entry & ~SEEN_BITS) | seen;
/** Whether the name may contain a text with these flags. */
export const mayContain = (entry: Entry, characters: number): boolean =>
  ((entry >>> CHARACTERS_SHIFT) & characters) === characters;
