/** What `.git` entries lead to, read from the files themselves: no git process per decision. */
import { dirname, join, resolve } from 'node:path';
import type { Runtime } from '#server/runtime/runtime.ts';

export interface Repository {
  /** Top of the work tree. */
  top: string;
  /** The `.git` entry and the real git directories that it leads to (of a linked work tree also the main one). */
  controlPaths: string[];
  /** False inside the git directory itself, which is no work tree. */
  inWorkTree: boolean;
}

/** Larger than any pointer that git writes. */
const MAX_POINTER_BYTES = 4096;

type Reader = Pick<Runtime, 'readFile'>;
type Files = Reader & Pick<Runtime, 'realpath' | 'stat'>;

const isFile = async (path: string, { stat }: Pick<Runtime, 'stat'>) =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false;

/** The text of a small file that git writes, such as `HEAD`, without its end of line; undefined where there is none. */
export async function smallText(path: string, { readFile }: Reader): Promise<string | undefined> {
  const bytes = await readFile(path, { maxBytes: MAX_POINTER_BYTES }).catch(() => undefined);
  return (
    bytes &&
    Buffer.from(bytes)
      .toString('utf8')
      .replace(/[\r\n]+$/, '')
  );
}

/** The git directory that a `.git` file names; undefined where it names none. */
export async function pointedAt(entry: string, files: Reader): Promise<string | undefined> {
  const pointer = /^gitdir: (.+)$/s.exec((await smallText(entry, files)) ?? '')?.[1];
  return pointer === undefined ? undefined : resolve(dirname(entry), pointer);
}

/** The git directory that a linked work tree's one shares its objects and settings with; itself where it shares none. */
async function commonDirectory(directory: string, files: Reader): Promise<string> {
  const common = await smallText(join(directory, 'commondir'), files);
  return common ? resolve(directory, common) : directory;
}

/** The shared git directory of a `.git` entry; undefined where it leads to none. */
export async function gitDirectoryOf(entry: string, isDirectory: boolean, files: Reader): Promise<string | undefined> {
  if (isDirectory) return entry;
  const directory = await pointedAt(entry, files);
  return directory && commonDirectory(directory, files);
}

/** The paths that make up the repository of a `.git` entry; undefined when it is none. */
export async function controlPathsOf(entry: string, files: Files): Promise<string[] | undefined> {
  const isDirectory = (await files.stat(entry).catch(() => undefined))?.isDirectory() ?? false;
  const directory = isDirectory ? entry : await pointedAt(entry, files);
  if (!directory || !(await isFile(join(directory, 'HEAD'), files))) return undefined;
  const named = [...new Set([entry, directory, await commonDirectory(directory, files)])];
  const resolved = await Promise.all(named.map((path) => files.realpath(path)));
  return [...new Set([...named, ...resolved])];
}

/** The control paths of a `.git` directory, and the state of it that they were read from. */
interface Known {
  ino: number;
  ctimeMs: number;
  controlPaths: string[];
}

const MAX_KNOWN = 64;
/** Two changes within a tick of the file system's clock have one time: a younger state may have changed since. */
const SETTLED_MS = 100;

/** The control paths of a `.git` entry, cached as long as nothing in the directory was added, removed or renamed. */
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
    // A link or a pointer may lead elsewhere while what it leads to now stays unchanged.
    const isDirect = isDirectory && controlPaths?.every((path) => path === entry);
    if (controlPaths && isDirect && Date.now() - ctimeMs > SETTLED_MS) {
      const [oldest] = known.keys();
      if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      known.set(entry, { ino, ctimeMs, controlPaths });
    }
    return controlPaths;
  };
}
