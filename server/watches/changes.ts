/** Changes of paths within one window, merged to one change per path. */

export type EntryKind = 'file' | 'directory' | 'symlink';
export type ChangeType = 'created' | 'modified' | 'deleted';

export interface Change {
  /** Relative to the root of the tree, with `/` as separator; the root itself is `.`. */
  path: string;
  change: ChangeType;
  kind: EntryKind;
}

/** Paths that one window stores; further ones are only counted. */
const MAX_PATHS = 10_000;

/** Merges two changes of a path; undefined when they cancel each other out. */
function merged(earlier: ChangeType, later: ChangeType): ChangeType | undefined {
  if (later === 'deleted') return earlier === 'created' ? undefined : 'deleted';
  if (earlier === 'deleted') return 'modified';
  return earlier;
}

export interface ChangeWindow {
  add(change: Change): void;
  /** The number of changes. */
  count(): number;
  /** Changes of the first `MAX_PATHS` paths, in the order of their first change. */
  list(): Change[];
}

export function createChangeWindow(): ChangeWindow {
  const byPath = new Map<string, Change>();
  let uncounted = 0;

  return {
    add(change) {
      const earlier = byPath.get(change.path);
      if (!earlier) {
        if (byPath.size < MAX_PATHS) byPath.set(change.path, change);
        else uncounted += 1;
        return;
      }
      const left = merged(earlier.change, change.change);
      if (left) byPath.set(change.path, { ...change, change: left });
      else byPath.delete(change.path);
    },
    count: () => byPath.size + uncounted,
    list: () => [...byPath.values()],
  };
}
