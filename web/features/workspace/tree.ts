/** The listed part of a work directory's tree, and the rows that it is drawn as. */
import type { FileEntry } from '@service-code/client';

export interface Directory {
  entries: readonly FileEntry[];
  /** Whether the directory has more entries than were listed. */
  cut: boolean;
}

export interface Tree {
  /** By path; the work directory is `.`. */
  listed: ReadonlyMap<string, Directory>;
  open: ReadonlySet<string>;
}

export interface Row {
  depth: number;
  entry: FileEntry;
  open: boolean;
  /** Whether it is the last listed entry of a directory that has more. */
  cut: boolean;
}

export const ROOT = '.';
export const emptyTree: Tree = { listed: new Map(), open: new Set([ROOT]) };

export const parentOf = (path: string): string => /^(.+)\/[^/]+$/.exec(path)?.[1] ?? ROOT;

/** All directories from the root down to the path, without the path. */
export function ancestorsOf(path: string): string[] {
  const found = [];
  for (let at = path; at !== ROOT;) {
    at = parentOf(at);
    found.unshift(at);
  }
  return found;
}

/** The open directories' entries, in the order of the tree. */
export function rowsOf({ listed, open }: Tree, directory = ROOT, depth = 0): Row[] {
  const { entries = [], cut = false } = listed.get(directory) ?? {};
  return entries.flatMap((entry, at) => {
    const opened = entry.kind === 'directory' && open.has(entry.path);
    const row: Row = { depth, entry, open: opened, cut: cut && at === entries.length - 1 };
    return [row, ...(opened ? rowsOf({ listed, open }, entry.path, depth + 1) : [])];
  });
}

/** Directories that are drawn, or would be if those above them were open. */
export const openDirectories = ({ open }: Tree): string[] => [...open];

export function withOpen(tree: Tree, path: string, opened: boolean): Tree {
  const open = new Set(tree.open);
  if (opened) open.add(path);
  else open.delete(path);
  return { ...tree, open };
}

/** Applies a listing of `asked`; a directory missing from `found` is treated as removed. */
export function withListed(tree: Tree, asked: readonly string[], found: ReadonlyMap<string, Directory>): Tree {
  const listed = new Map(tree.listed);
  const open = new Set(tree.open);
  for (const path of asked) {
    const directory = found.get(path);
    if (directory) listed.set(path, directory);
    else {
      listed.delete(path);
      if (path !== ROOT) open.delete(path);
    }
  }
  return { listed, open };
}

/** Open directories that display an entry of these paths, or a git mark of one below. */
export function touched({ open }: Tree, paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap(ancestorsOf))].filter((path) => open.has(path));
}
