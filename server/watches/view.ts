/** What a user of a tree sees of it. */
import type { EntryKind } from './changes.ts';

/** Whether an entry is seen; `name` is the last segment of `path`. What lies below an unseen one is not asked for. */
export type Sees = (path: string, kind: EntryKind, name: string) => boolean;

/** A directory as its entries are about to be looked at. */
export interface EnteredDirectory {
  /** Relative to the root of the tree, which is empty. */
  readonly path: string;
  has(name: string): boolean;
  /** The text of a regular file in it, bounded; undefined when there is none. */
  read(name: string): Promise<string | undefined>;
}

export interface View {
  /** What is seen in a directory; `inherited` is what is seen in the one around it. */
  enter(directory: EnteredDirectory, inherited: Sees | undefined): Promise<Sees>;
  /** Whether the rules are made of this file. */
  isRuleFile(path: string): boolean;
}
