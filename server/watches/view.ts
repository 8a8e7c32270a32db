/** The view of a tree: the entries that one consumer sees. */
import type { EntryKind } from './changes.ts';

/** Whether an entry is visible; `name` is the last segment of `path`. Not called for entries below an invisible one. */
export type Sees = (path: string, kind: EntryKind, name: string) => boolean;

/** A directory whose entries are about to be tested. */
export interface EnteredDirectory {
  /** Relative to the root of the tree, whose path is empty. */
  readonly path: string;
  has(name: string): boolean;
  /** Returns the text of a regular file in it, bounded; undefined when it does not exist. */
  read(name: string): Promise<string | undefined>;
}

export interface View {
  /** Returns the predicate of a directory; `inherited` is that of its parent. */
  enter(directory: EnteredDirectory, inherited: Sees | undefined): Promise<Sees>;
  /** Whether the view's rules depend on this file. */
  isRuleFile(path: string): boolean;
}
