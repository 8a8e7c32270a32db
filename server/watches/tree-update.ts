/** What is there by now against what was known: changes the entries of a tree and tells of those that are reported. */
import type { createPace } from '#server/breathe.ts';
import type { ChangeType, EntryKind } from './changes.ts';
import { kindOfEntry, REPORTED, SEARCHED, seenOf } from './entries.ts';
import type { Seen } from './entries.ts';
import { pathIn } from './tree.ts';
import type { Directory, Tree } from './tree.ts';

export type ViewName = 'reported' | 'searched';
export const viewNames: readonly ViewName[] = ['reported', 'searched'];
export const viewFlags: Record<ViewName, Seen> = { reported: REPORTED, searched: SEARCHED };

type Pace = ReturnType<typeof createPace>;

/** A directory that has to be looked at. */
export interface Scan {
  directory: Directory;
  /** What is found there is new to those who watch. */
  tell: boolean;
  /** Directories below may be others than before, even if their names are known. */
  deep: boolean;
}

export interface TreeUpdate {
  /** What an entry is by now, undefined for gone; `renamed`: it may be another one than before. */
  entry(directory: Directory, name: string, kind: EntryKind | undefined, renamed: boolean): Scan[];
  /** All that a directory holds by now. */
  listed(scan: Scan, found: ReadonlyMap<string, EntryKind>, pace: Pace): Promise<Scan[]>;
  /** Nobody can look into a directory any more: what was known of it is forgotten. */
  empty(directory: Directory, told: boolean): void;
}

export interface TreeUpdateDeps {
  tree: Tree;
  /** Takes a change of the reported view. */
  tell(path: string, change: ChangeType, kind: EntryKind): void;
}

const isReported = (seen: Seen) => (seen & REPORTED) !== 0;

export function createTreeUpdate({ tree, tell }: TreeUpdateDeps): TreeUpdate {
  function seenIn(directory: Directory, name: string, kind: EntryKind): Seen {
    const path = pathIn(directory, name);
    let seen = 0;
    for (const view of viewNames) if (directory[view]?.(path, kind, name)) seen |= viewFlags[view];
    return seen;
  }

  function add(directory: Directory, name: string, kind: EntryKind, told: boolean): Scan[] {
    const seen = seenIn(directory, name, kind);
    tree.put(directory, name, kind, seen);
    if (told && isReported(seen)) tell(pathIn(directory, name), 'created', kind);
    if (kind !== 'directory' || seen === 0) return [];
    return [{ directory: tree.enter(directory, name), tell: told, deep: false }];
  }

  function tellDeleted(directory: Directory, name: string): void {
    const entry = directory.entries.get(name) ?? 0;
    if (isReported(seenOf(entry))) tell(pathIn(directory, name), 'deleted', kindOfEntry(entry));
    const below = directory.directories?.get(name);
    if (below) for (const each of below.entries.keys()) tellDeleted(below, each);
  }

  function remove(directory: Directory, name: string): void {
    tellDeleted(directory, name);
    tree.delete(directory, name);
  }

  function entry(directory: Directory, name: string, kind: EntryKind | undefined, renamed: boolean): Scan[] {
    const known = directory.entries.get(name);
    const path = pathIn(directory, name);
    if (kind === undefined) {
      if (known !== undefined) remove(directory, name);
      else if (directory.partial && directory.reported?.(path, 'file', name)) tell(path, 'deleted', 'file');
      return [];
    }
    if (known === undefined) {
      // Among files that are not remembered only a new name is told from a changed content.
      if (!directory.partial || renamed) return add(directory, name, kind, true);
      if (directory.reported?.(path, kind, name)) tell(path, 'modified', kind);
      return [];
    }
    if (kindOfEntry(known) !== kind) {
      remove(directory, name);
      return add(directory, name, kind, true);
    }
    const seen = seenOf(known);
    if (isReported(seen)) tell(path, 'modified', kind);
    if (kind !== 'directory' || seen === 0) return [];
    const below = directory.directories?.get(name);
    if (below) return renamed ? [{ directory: below, tell: true, deep: true }] : [];
    // One that let nobody in before may do so by now.
    return [{ directory: tree.enter(directory, name), tell: true, deep: false }];
  }

  return {
    entry,
    async listed({ directory, tell: told, deep }, found, pace) {
      const next: Scan[] = [];
      for (const name of directory.entries.keys()) {
        if (!found.has(name)) remove(directory, name);
        if (pace.due()) await pace.rest();
      }
      for (const [name, kind] of found) {
        const known = directory.entries.get(name);
        const below = directory.directories?.get(name);
        if (known === undefined) next.push(...add(directory, name, kind, told));
        else if (kindOfEntry(known) !== kind) next.push(...entry(directory, name, kind, true));
        else if (deep && below) next.push({ directory: below, tell: told, deep });
        if (pace.due()) await pace.rest();
      }
      return next;
    },
    empty(directory, told) {
      if (directory.gone) return;
      if (told) for (const name of directory.entries.keys()) tellDeleted(directory, name);
      tree.leave(directory);
    },
  };
}
