/** Resolves `.git` entries by reading the files themselves, without a git process per decision. */
import { dirname, join, resolve } from 'node:path';
import type { Runtime } from '#server/runtime/runtime.ts';

export interface Repository {
  /** Top of the work tree. */
  top: string;
  /** The `.git` entry and the real git directories that it leads to, for a linked work tree also the main one. */
  controlPaths: string[];
  /** False inside the git directory itself, which is not part of the work tree. */
  inWorkTree: boolean;
}

/** Larger than any pointer that git writes. */
const MAX_POINTER_BYTES = 4096;

type Reader = Pick<Runtime, 'readFile'>;
type Files = Reader & Pick<Runtime, 'realpath' | 'stat'>;

const isFile = async (path: string, { stat }: Pick<Runtime, 'stat'>) =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false;

/** Text of a small file that git writes, such as `HEAD`, without its line end; undefined if missing or unreadable. */
export async function smallText(path: string, { readFile }: Reader): Promise<string | undefined> {
  const bytes = await readFile(path, { maxBytes: MAX_POINTER_BYTES }).catch(() => undefined);
  return (
    bytes &&
    Buffer.from(bytes)
      .toString('utf8')
      .replace(/[\r\n]+$/, '')
  );
}

/** The git directory that a `.git` file points to; undefined for any other content. */
export async function pointedAt(entry: string, files: Reader): Promise<string | undefined> {
  const pointer = /^gitdir: (.+)$/s.exec((await smallText(entry, files)) ?? '')?.[1];
  return pointer === undefined ? undefined : resolve(dirname(entry), pointer);
}

/** The main git directory that a linked work tree's git directory refers to; otherwise the directory itself. */
async function commonDirectory(directory: string, files: Reader): Promise<string> {
  const common = await smallText(join(directory, 'commondir'), files);
  return common ? resolve(directory, common) : directory;
}

/** The shared git directory of a `.git` entry; undefined if it leads to none. */
export async function gitDirectoryOf(entry: string, isDirectory: boolean, files: Reader): Promise<string | undefined> {
  if (isDirectory) return entry;
  const directory = await pointedAt(entry, files);
  return directory && commonDirectory(directory, files);
}

/** The paths that belong to the repository of a `.git` entry; undefined if it is not a repository. */
export async function controlPathsOf(entry: string, files: Files): Promise<string[] | undefined> {
  const isDirectory = (await files.stat(entry).catch(() => undefined))?.isDirectory() ?? false;
  const directory = isDirectory ? entry : await pointedAt(entry, files);
  if (!directory || !(await isFile(join(directory, 'HEAD'), files))) return undefined;
  const named = [...new Set([entry, directory, await commonDirectory(directory, files)])];
  const resolved = await Promise.all(named.map((path) => files.realpath(path)));
  return [...new Set([...named, ...resolved])];
}

/** Cached control paths of a `.git` directory, and the state of it for which they are valid. */
interface Known {
  ino: number;
  ctimeMs: number;
  controlPaths: string[];
}

const MAX_KNOWN = 64;
/** Age at which a state is cached: two changes within one tick of the file system's clock have the same time. */
const SETTLED_MS = 100;

/** Memoizes the control paths of a `.git` entry until an entry of the directory is added, removed or renamed. */
export function createControlPaths(files: Files): (entry: string) => Promise<string[] | undefined> {
  const known = new Map<string, Known>();

  return async (entry) => {
    const stats = await files.stat(entry).catch(() => undefined);
    if (!stats) return undefined;
    const { ino, ctimeMs } = stats;
    const before = known.get(entry);
    if (before?.ino === ino && before.ctimeMs === ctimeMs) return before.controlPaths;
    known.delete(entry);
    const isDirectory = stats.isDirectory();
    const controlPaths = await controlPathsOf(entry, files);
    // Links and pointer files are not cached: their target may change while the entry itself stays unchanged.
    const isDirect = isDirectory && controlPaths?.every((path) => path === entry);
    if (controlPaths && isDirect && Date.now() - ctimeMs > SETTLED_MS) {
      const [oldest] = known.keys();
      if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      known.set(entry, { ino, ctimeMs, controlPaths });
    }
    return controlPaths;
  };
}
