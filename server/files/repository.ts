/** The git repository around a directory, read from the files themselves: no git process per decision. */
import { dirname, join, resolve } from 'node:path';
import type { Runtime } from '#server/runtime/runtime.ts';
import { isInside } from './paths.ts';

export interface Repository {
  /** Top of the work tree. */
  top: string;
  /** The `.git` entry and the real git directories behind it (of a linked work tree also the main one). */
  controlPaths: string[];
  /** False inside the git directory itself, which is no work tree. */
  inWorkTree: boolean;
}

type Files = Pick<Runtime, 'readFile' | 'realpath' | 'stat'>;

const isFile = async (path: string, { stat }: Files) => (await stat(path).catch(() => undefined))?.isFile() ?? false;

async function text(path: string, { readFile }: Files): Promise<string | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes && Buffer.from(bytes).toString('utf8');
}

/** The git directory a `.git` entry stands for; undefined when it is none. */
async function gitDirectory(entry: string, isDirectory: boolean, files: Files): Promise<string | undefined> {
  if (isDirectory) return (await isFile(join(entry, 'HEAD'), files)) ? entry : undefined;
  const pointer = /^gitdir: (.+?)\r?\n?$/.exec((await text(entry, files)) ?? '')?.[1];
  if (!pointer) return undefined;
  const directory = resolve(dirname(entry), pointer);
  return (await isFile(join(directory, 'HEAD'), files)) ? directory : undefined;
}

/** The paths that make up the repository of a `.git` entry; undefined when it is none. */
async function controlPathsOf(entry: string, isDirectory: boolean, files: Files): Promise<string[] | undefined> {
  const directory = await gitDirectory(entry, isDirectory, files);
  if (!directory) return undefined;
  const common = (await text(join(directory, 'commondir'), files))?.trim();
  const named = [...new Set([entry, directory, ...(common ? [resolve(directory, common)] : [])])];
  const resolved = await Promise.all(named.map((path) => files.realpath(path)));
  return [...new Set([...named, ...resolved])];
}

/** What is remembered of the `.git` directory of a work tree, and of which state of it. */
interface Known {
  ino: number;
  ctimeMs: number;
  controlPaths: string[];
}

const MAX_KNOWN = 64;
/** Two changes within a tick of the file system's clock have one time: what is younger may have changed since. */
const SETTLED_MS = 100;

/** Finds the repository that a directory (links resolved) lies in; undefined outside of any. */
export type RepositoryFinder = (real: string, files: Files) => Promise<Repository | undefined>;

/** Remembers what `.git` directories hold as long as nothing in them was added, removed or renamed. */
export function createRepositoryFinder(): RepositoryFinder {
  const known = new Map<string, Known>();

  async function controlPathsAt(entry: string, files: Files): Promise<string[] | undefined> {
    const stats = await files.stat(entry).catch(() => undefined);
    if (!stats) return undefined;
    const { ino, ctimeMs } = stats;
    const before = known.get(entry);
    if (before?.ino === ino && before.ctimeMs === ctimeMs) return before.controlPaths;
    known.delete(entry);
    const isDirectory = stats.isDirectory();
    const controlPaths = await controlPathsOf(entry, isDirectory, files);
    // A link or a pointer may lead elsewhere while what it leads to now stays as it is.
    const ownAlone = isDirectory && controlPaths?.every((path) => path === entry);
    if (controlPaths && ownAlone && Date.now() - ctimeMs > SETTLED_MS) {
      const [oldest] = known.keys();
      if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      known.set(entry, { ino, ctimeMs, controlPaths });
    }
    return controlPaths;
  }

  return async (real, files) => {
    for (let top = real; ; top = dirname(top)) {
      const controlPaths = await controlPathsAt(join(top, '.git'), files);
      if (controlPaths) return { top, controlPaths, inWorkTree: !controlPaths.some((path) => isInside(real, path)) };
      if (dirname(top) === top) return undefined;
    }
  };
}
