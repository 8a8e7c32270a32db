/**
 * The entries of a work directory that a view sees. Directories that no view sees are entries without contents. Only
 * the watcher changes the tree.
 */
import { foldCase } from '#server/files/fold-case.ts';
import type { EntryKind } from './changes.ts';
import { charactersOf, entryOf } from './entries.ts';
import type { Entry, Seen } from './entries.ts';
import type { Sees } from './view.ts';
import type { SystemWatch } from './system-watch.ts';

/** Entries that a tree stores; for files beyond it only changes are reported. */
export const MAX_ENTRIES = 300_000;

/** A directory whose contents are stored. */
export interface Directory {
  /** Relative to the root, whose path is empty. */
  readonly path: string;
  readonly name: string;
  readonly parent: Directory | undefined;
  readonly entries: Map<string, Entry>;
  /** The subdirectories whose contents are stored; created with the first one. */
  directories: Map<string, Directory> | undefined;
  /** Whether some files are not stored. */
  partial: boolean;
  /** Predicates of the views for the entries. */
  reported: Sees | undefined;
  searched: Sees | undefined;
  watch: SystemWatch | undefined;
  /** Whether the directory was removed from the tree. */
  gone: boolean;
}

export const pathIn = (directory: Directory, name: string): string =>
  directory.path === '' ? name : `${directory.path}/${name}`;

export interface Tree {
  readonly root: Directory;
  /** The number of stored entries. */
  size(): number;
  /** Whether all visible entries are stored. */
  whole(): boolean;
  /** Stores an entry; false when the limit is reached. */
  put(directory: Directory, name: string, kind: EntryKind, seen: Seen): boolean;
  delete(directory: Directory, name: string): void;
  /** Adds an empty directory whose contents are about to be stored. */
  enter(directory: Directory, name: string): Directory;
  /** Drops the contents of a directory, and closes the watches on it and below. */
  leave(directory: Directory): void;
}

const emptyDirectory = (path: string, name: string, parent: Directory | undefined): Directory => ({
  path,
  name,
  parent,
  entries: new Map(),
  directories: undefined,
  partial: false,
  reported: undefined,
  searched: undefined,
  watch: undefined,
  gone: false,
});

/** Creates an empty tree; `end` receives the watches of dropped directories. */
export function createTree(end: (watch: SystemWatch) => void, maxEntries = MAX_ENTRIES): Tree {
  const root = emptyDirectory('', '', undefined);
  let size = 0;
  let partial = 0;

  function leave(directory: Directory): void {
    directory.parent?.directories?.delete(directory.name);
    // The root is never removed, only emptied.
    directory.gone = directory.parent !== undefined;
    for (const below of directory.directories?.values() ?? []) leave(below);
    if (directory.watch) end(directory.watch);
    directory.watch = undefined;
    size -= directory.entries.size;
    directory.entries.clear();
    if (directory.partial) partial -= 1;
    directory.partial = false;
  }

  return {
    root,
    size: () => size,
    whole: () => partial === 0,
    put(directory, name, kind, seen) {
      // Directories are always stored: changes in them could not be detected otherwise.
      if (size >= maxEntries && kind !== 'directory') {
        if (!directory.partial) partial += 1;
        directory.partial = true;
        return false;
      }
      if (!directory.entries.has(name)) size += 1;
      directory.entries.set(name, entryOf(kind, seen, charactersOf(foldCase(name))));
      return true;
    },
    delete(directory, name) {
      const below = directory.directories?.get(name);
      if (below) leave(below);
      if (directory.entries.delete(name)) size -= 1;
    },
    enter(directory, name) {
      const entered = emptyDirectory(pathIn(directory, name), name, directory);
      directory.directories ??= new Map();
      directory.directories.set(name, entered);
      return entered;
    },
    leave,
  };
}
