/**
 * The entries of a work directory, as far as somebody sees them. Directories that nobody sees are entries without
 * contents. The tree is changed by its watcher alone.
 */
import { foldCase } from '#server/files/fold-case.ts';
import type { EntryKind } from './changes.ts';
import { charactersOf, entryOf } from './entries.ts';
import type { Entry, Seen } from './entries.ts';
import type { Sees } from './view.ts';
import type { SystemWatch } from './system-watch.ts';

/** Entries that a tree remembers; of files beyond it only changes are known. */
export const MAX_ENTRIES = 300_000;

/** A directory whose contents are known. */
export interface Directory {
  /** Relative to the root, which is empty. */
  readonly path: string;
  readonly name: string;
  readonly parent: Directory | undefined;
  readonly entries: Map<string, Entry>;
  /** Those of the entries whose contents are known; made with the first one. */
  directories: Map<string, Directory> | undefined;
  /** Not every file is among the entries. */
  partial: boolean;
  /** What each view sees here. */
  reported: Sees | undefined;
  searched: Sees | undefined;
  watch: SystemWatch | undefined;
  /** It is no part of the tree any more. */
  gone: boolean;
}

export const pathIn = (directory: Directory, name: string): string =>
  directory.path === '' ? name : `${directory.path}/${name}`;

export interface Tree {
  readonly root: Directory;
  /** Entries that are remembered. */
  size(): number;
  /** Whether all there is to be seen is remembered. */
  whole(): boolean;
  /** Takes an entry in; false when there is no room for it. */
  put(directory: Directory, name: string, kind: EntryKind, seen: Seen): boolean;
  delete(directory: Directory, name: string): void;
  /** Makes an entry a directory whose contents are known; it has none yet. */
  enter(directory: Directory, name: string): Directory;
  /** Forgets the contents of a directory, and ends the watches on it and below. */
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

/** `end` takes the watches of directories that are forgotten. */
export function createTree(end: (watch: SystemWatch) => void, maxEntries = MAX_ENTRIES): Tree {
  const root = emptyDirectory('', '', undefined);
  let size = 0;
  let partial = 0;

  function leave(directory: Directory): void {
    directory.parent?.directories?.delete(directory.name);
    // The root is always there, if empty.
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
      // Directories are always known: changes in them could not be told otherwise.
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
