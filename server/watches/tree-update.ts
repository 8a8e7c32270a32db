/** Compares the current state with the stored entries: updates the tree and publishes changes of the reported view. */
import type { TimeSlice } from '#server/async/yield.ts';
import type { ChangeType, EntryKind } from './changes.ts';
import { kindOfEntry, REPORTED, SEARCHED, seenOf } from './entries.ts';
import type { Seen } from './entries.ts';
import { pathIn } from './tree.ts';
import type { Directory, Tree } from './tree.ts';

export type ViewName = 'reported' | 'searched';
export const viewNames: readonly ViewName[] = ['reported', 'searched'];
export const viewFlags: Record<ViewName, Seen> = { reported: REPORTED, searched: SEARCHED };

/** A directory that has to be scanned. */
export interface Scan {
  directory: Directory;
  /** Whether entries found there are reported as created. */
  tell: boolean;
  /** Whether directories below may have been replaced, even if their names are unchanged. */
  deep: boolean;
}

export interface TreeUpdate {
  /** Updates an entry; `kind` undefined: it was removed; `renamed`: it may have been replaced by another one. */
  entry(directory: Directory, name: string, kind: EntryKind | undefined, renamed: boolean): Scan[];
  /** Updates a directory to its complete listing. */
  listed(scan: Scan, found: ReadonlyMap<string, EntryKind>, slice: TimeSlice): Promise<Scan[]>;
  /** Drops the contents of a directory that has become unreachable. */
  empty(directory: Directory, reports: boolean): void;
}

export interface TreeUpdateDeps {
  tree: Tree;
  /** Receives a change of the reported view. */
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

  function add(directory: Directory, name: string, kind: EntryKind, reports: boolean): Scan[] {
    const seen = seenIn(directory, name, kind);
    tree.put(directory, name, kind, seen);
    if (reports && isReported(seen)) tell(pathIn(directory, name), 'created', kind);
    if (kind !== 'directory' || seen === 0) return [];
    return [{ directory: tree.enter(directory, name), tell: reports, deep: false }];
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
      // For files that are not stored, only `renamed` distinguishes a new file from changed content.
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
    // A directory that was unreadable before may be readable now.
    return [{ directory: tree.enter(directory, name), tell: true, deep: false }];
  }

  return {
    entry,
    async listed({ directory, tell: reports, deep }, found, slice) {
      const next: Scan[] = [];
      for (const name of directory.entries.keys()) {
        if (!found.has(name)) remove(directory, name);
        if (slice.due()) await slice.rest();
      }
      for (const [name, kind] of found) {
        const known = directory.entries.get(name);
        const below = directory.directories?.get(name);
        if (known === undefined) next.push(...add(directory, name, kind, reports));
        else if (kindOfEntry(known) !== kind) next.push(...entry(directory, name, kind, true));
        else if (deep && below) next.push({ directory: below, tell: reports, deep });
        if (slice.due()) await slice.rest();
      }
      return next;
    },
    empty(directory, reports) {
      if (directory.gone) return;
      if (reports) for (const name of directory.entries.keys()) tellDeleted(directory, name);
      tree.leave(directory);
    },
  };
}
