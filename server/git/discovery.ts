/**
 * Finds the repository that git uses in a directory: the same search, by reading files only. In doubt a directory is
 * treated as a repository, so that no repository that git would use is missed.
 */
import { dirname, join, resolve } from 'node:path';
import { directoriesDown, isInside } from '#server/files/paths.ts';
import { pointedAt, smallText } from '#server/project-files/repository.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

export type DiscoveryFiles = Pick<Runtime, 'readFile' | 'realpath' | 'stat'>;

export interface FoundRepository {
  /** The directory that contains the `.git` entry; for a bare repository, the repository itself. */
  directory: string;
  /** Undefined where the `.git` entry is a file that git refuses. */
  gitDirectory: string | undefined;
  /** Git treats the directory itself as a repository: it may have been built from ordinary files. */
  bare: boolean;
}

const covers = (path: string, written: readonly string[]) =>
  written.some((one) => isInside(one.toLowerCase(), path.toLowerCase()));

async function exists(path: string, files: DiscoveryFiles, written: readonly string[] = []): Promise<boolean> {
  if (covers(path, written)) return true;
  return files.stat(path).then(
    () => true,
    () => false,
  );
}

/** `HEAD` may be a link to a branch that has no commit yet. */
async function hasHead(directory: string, files: DiscoveryFiles, written: readonly string[]): Promise<boolean> {
  const head = join(directory, 'HEAD');
  if (await exists(head, files, written)) return true;
  const [real, expected] = await Promise.all([files.realpath(head), files.realpath(directory)]);
  return real !== join(expected, 'HEAD');
}

/** Cheap pre-check: whether the directory has an entry that is rare outside of repositories. Most searches end here. */
async function looksLikeRepository(
  directory: string,
  files: DiscoveryFiles,
  written: readonly string[],
): Promise<boolean> {
  const found = await Promise.all(['refs', 'commondir'].map((name) => exists(join(directory, name), files, written)));
  return found.includes(true);
}

/**
 * Whether git may take the directory for a repository. Files in `written` (links resolved) are treated as if they
 * existed; their case is ignored.
 */
async function mayBeRepository(directory: string, files: DiscoveryFiles, written: readonly string[]): Promise<boolean> {
  const has = (name: string) => exists(join(directory, name), files, written);
  if (!(await has('commondir')) && !((await has('refs')) && (await has('objects')))) return false;
  return hasHead(directory, files, written);
}

/** Content that git accepts in `HEAD`: the name of a branch or the id of a commit. */
const HEAD_CONTENT = /^(?:ref:\s*refs\/|[0-9a-fA-F]{40})/;

/**
 * Whether git is certain to use the `.git` directory as a repository: it skips a broken one and continues the search in
 * the parent directory.
 */
async function isRepository(gitDirectory: string, files: DiscoveryFiles): Promise<boolean> {
  const [head, common] = await Promise.all([
    smallText(join(gitDirectory, 'HEAD'), files),
    smallText(join(gitDirectory, 'commondir'), files),
  ]);
  if (head === undefined || !HEAD_CONTENT.test(head)) return false;
  const store = common === undefined ? gitDirectory : resolve(gitDirectory, common);
  const [objects, refs] = await Promise.all([
    exists(join(store, 'objects'), files),
    exists(join(store, 'refs'), files),
  ]);
  return objects && refs;
}

/** Returns the repository of the directory's `.git` entry; undefined where git continues the search. */
async function entryOf(directory: string, files: DiscoveryFiles): Promise<FoundRepository | undefined> {
  const entry = join(directory, '.git');
  const stats = await files.stat(entry).catch(() => undefined);
  if (stats?.isDirectory()) {
    return (await isRepository(entry, files)) ? { directory, gitDirectory: entry, bare: false } : undefined;
  }
  return stats?.isFile() ? { directory, gitDirectory: await pointedAt(entry, files), bare: false } : undefined;
}

/** Returns the repository that git uses when it runs in the directory (links resolved). */
export function discoverRepository(real: string, files: DiscoveryFiles): Promise<FoundRepository | undefined> {
  return discover(real, files, []);
}

async function discover(
  real: string,
  files: DiscoveryFiles,
  written: readonly string[],
): Promise<FoundRepository | undefined> {
  for (let directory = real; ; directory = dirname(directory)) {
    const [found, bare] = await Promise.all([entryOf(directory, files), mayBeRepository(directory, files, written)]);
    if (found) return found;
    if (bare) return { directory, gitDirectory: directory, bare };
    if (dirname(directory) === directory) return undefined;
  }
}

export interface BareSearch {
  /** Files (links resolved) that are treated as if they existed. */
  written?: readonly string[];
  /** A directory whose `.git` entry bounds the search. */
  top?: string | undefined;
}

/** Whether git, when run in the directory (links resolved; it need not exist), finds a bare repository. */
export async function findsBareRepository(
  real: string,
  files: DiscoveryFiles,
  { written = [], top }: BareSearch = {},
): Promise<boolean> {
  const directories = directoriesDown(top ?? '', real);
  const looks = await Promise.all(directories.map((directory) => looksLikeRepository(directory, files, written)));
  return looks.includes(true) && (await discover(real, files, written))?.bare === true;
}
