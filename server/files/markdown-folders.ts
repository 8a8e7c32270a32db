/** Finds the Markdown files of folders that may contain files of any author, within limits. */
import { join, sep } from 'node:path';
import { mapLimit } from '#server/async/map-limit.ts';
import { seenFile, type FolderEntry, type FolderFiles, type MarkdownFolder, type SeenFile } from './markdown-files.ts';
import { isInside } from './paths.ts';

const CONCURRENT_CALLS = 16;
const EXTENSION = '.md';

/** Limits for one folder with its subfolders. */
export interface FolderLimits {
  /** How many levels of directories are searched, including the folder. */
  depth: number;
  files: number;
  directories: number;
  /** A larger file is not read. */
  bytesPerFile: number;
  /** Limit for the sum of the sizes. */
  bytes: number;
  /** Whether links to directories are followed; each real directory is searched a single time. */
  linkedDirectories: boolean;
}

export interface FolderSearch {
  /** Chooses among the names of the `.md` files of a directory. Default: all. */
  choose?(names: readonly string[], isRoot: boolean): readonly string[];
  /** Returns whether the subdirectories of a directory with these chosen files are searched. Default: yes. */
  descends?(files: readonly SeenFile[]): Promise<boolean>;
}

export interface FoundFiles {
  /** False if the folder does not exist, or if it leads out of `within`. */
  exists: boolean;
  /** In path order: segment by segment. */
  files: SeenFile[];
  /** True if a limit omitted files or directories. */
  isCut: boolean;
}

interface Directory {
  path: string;
  /** The path with all links resolved. */
  real: string;
}

function orderedBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }));
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item);
}

/** Orders by path: the entries of a directory follow each other. */
export const inPathOrder = <T>(items: readonly T[], pathOf: (item: T) => string): T[] =>
  orderedBy(items, (item) => pathOf(item).replaceAll(sep, '\0'));

/**
 * The `.md` files of a folder and its subfolders. Levels are searched from the top, so that a limit omits the deepest
 * files. Entries that start with a dot, `node_modules`, and entries that are neither a regular file nor a directory are
 * skipped.
 */
export async function findMarkdownFiles(
  folder: MarkdownFolder,
  limits: FolderLimits,
  files: FolderFiles,
  search: FolderSearch = {},
): Promise<FoundFiles> {
  const { within } = folder;
  const realOf = (path: string) => files.realpath(path).catch(() => undefined);
  const boundary = within === undefined ? undefined : await realOf(within);
  const visited = new Set<string>();
  const found: SeenFile[] = [];
  let isCut = false;
  const left = { files: limits.files, directories: limits.directories, links: limits.directories, bytes: limits.bytes };

  /** The first items, as many as the limit permits, which it reduces. */
  function take<T>(items: readonly T[], limit: 'files' | 'directories' | 'links'): readonly T[] {
    const taken = items.slice(0, left[limit]);
    left[limit] -= taken.length;
    if (taken.length < items.length) isCut = true;
    return taken;
  }

  /** The directory that a link leads to; undefined if it leads to anything else, or out of `within`. */
  async function linkedDirectory(path: string): Promise<Directory | undefined> {
    const stats = await files.stat(path).catch(() => undefined);
    const real = stats?.isDirectory() ? await realOf(path) : undefined;
    if (real === undefined || (within !== undefined && !(boundary && isInside(real, boundary)))) return undefined;
    return { path, real };
  }

  async function entriesOf(directory: Directory): Promise<FolderEntry[]> {
    const entries = await files.list(directory.path).catch(() => []);
    const shown = entries.filter(({ name }) => !name.startsWith('.') && name !== 'node_modules');
    return orderedBy(shown, ({ name }) => name);
  }

  async function filesOf(directory: Directory, entries: readonly FolderEntry[]): Promise<SeenFile[]> {
    const seen = await mapLimit(entries, CONCURRENT_CALLS, (entry) =>
      // The real path of the directory is known, so that only a link can lead out of `within`.
      seenFile(join(directory.path, entry.name), entry.isFile() || within === undefined ? {} : { within }, files),
    );
    return seen.filter((file) => file !== undefined);
  }

  function add(file: SeenFile): void {
    const size = Math.min(file.size, limits.bytesPerFile);
    if (size > left.bytes) isCut = true;
    else {
      left.bytes -= size;
      found.push(file);
    }
  }

  /** Lists a directory: the chosen files, and what may be a directory. */
  async function list(directory: Directory, isRoot: boolean) {
    const entries = await entriesOf(directory);
    const markdown = entries.filter((entry) => !entry.isDirectory() && isMarkdown(entry));
    const names = markdown.map(({ name }) => name);
    const chosen = new Set(search.choose?.(names, isRoot) ?? names);
    return {
      directory,
      wanted: markdown.filter(({ name }) => chosen.has(name)),
      below: entries.filter((entry) => entry.isDirectory() || !(entry.isFile() || isMarkdown(entry))),
    };
  }

  /** The directories in the listed ones, in their order. */
  async function directoriesBelow(listed: readonly Pick<Awaited<ReturnType<typeof list>>, 'directory' | 'below'>[]) {
    const entries = listed.flatMap(({ directory, below }) => below.map((entry) => ({ directory, entry })));
    const links = limits.linkedDirectories ? entries.filter(({ entry }) => !entry.isDirectory()) : [];
    const followed = new Set(take(links, 'links'));
    const directories = await mapLimit(entries, CONCURRENT_CALLS, async (one) => {
      const path = join(one.directory.path, one.entry.name);
      if (one.entry.isDirectory()) return { path, real: join(one.directory.real, one.entry.name) };
      return followed.has(one) ? linkedDirectory(path) : undefined;
    });
    return directories.filter((directory) => directory !== undefined);
  }

  /** Limits are applied in the order of the directories, so that they always omit the same files. */
  async function searchLevel(level: readonly Directory[], depth: number): Promise<Directory[]> {
    const listed = await mapLimit(level, CONCURRENT_CALLS, (directory) => list(directory, depth === 1));
    const limited = listed.map((one) => ({ ...one, wanted: take(one.wanted, 'files') }));
    const seen = await mapLimit(limited, CONCURRENT_CALLS, async (one) => {
      return { ...one, files: await filesOf(one.directory, one.wanted) };
    });
    for (const file of seen.flatMap((one) => one.files)) add(file);
    if (depth >= limits.depth) return [];
    const searched = await mapLimit(seen, CONCURRENT_CALLS, async (one) => {
      const isLeaf = one.below.length === 0 || (await search.descends?.(one.files)) === false;
      return isLeaf ? [] : [one];
    });
    return directoriesBelow(searched.flat());
  }

  const root = await linkedDirectory(folder.path);
  let level = root ? [root] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    const unvisited = level.filter(({ real }) => !visited.has(real) && visited.add(real));
    level = await searchLevel(take(unvisited, 'directories'), depth);
  }
  return { exists: root !== undefined, files: inPathOrder(found, ({ path }) => path), isCut };
}

const isMarkdown = ({ name }: FolderEntry) => name.endsWith(EXTENSION);
