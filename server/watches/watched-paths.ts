/** The paths that one connection watches in one session. */
import type { Change } from './changes.ts';

export interface WatchedPaths {
  /** Adds a path; an existing one gets the new value of `recursive`. */
  add(path: string, recursive: boolean): void;
  delete(path: string): void;
  has(path: string): boolean;
  size(): number;
  /** Sorted by code units. */
  list(): string[];
  /** Whether the change is at or below a watched path; for a non-recursive path, at it or directly below. */
  cover(change: Pick<Change, 'path'>): boolean;
}

const parentOf = (path: string) => {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '.' : path.slice(0, slash);
};

export function createWatchedPaths(): WatchedPaths {
  const recursive = new Map<string, boolean>();
  return {
    add: (path, below) => void recursive.set(path, below),
    delete: (path) => void recursive.delete(path),
    has: (path) => recursive.has(path),
    size: () => recursive.size,
    list: () => [...recursive.keys()].sort(),
    cover({ path }) {
      if (recursive.has(path)) return true;
      if (path === '.') return false;
      const parent = parentOf(path);
      if (recursive.has(parent)) return true;
      for (let ancestor = parent; ; ancestor = parentOf(ancestor)) {
        if (recursive.get(ancestor)) return true;
        if (ancestor === '.') return false;
      }
    },
  };
}
