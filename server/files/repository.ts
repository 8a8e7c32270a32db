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
async function gitDirectory(entry: string, files: Files): Promise<string | undefined> {
  const stats = await files.stat(entry).catch(() => undefined);
  if (!stats) return undefined;
  if (stats.isDirectory()) return (await isFile(join(entry, 'HEAD'), files)) ? entry : undefined;
  const pointer = /^gitdir: (.+?)\r?\n?$/.exec((await text(entry, files)) ?? '')?.[1];
  if (!pointer) return undefined;
  const directory = resolve(dirname(entry), pointer);
  return (await isFile(join(directory, 'HEAD'), files)) ? directory : undefined;
}

/** The repository that `cwd` (links resolved) lies in; undefined outside of any. */
export async function findRepository(cwd: string, files: Files): Promise<Repository | undefined> {
  const real = await files.realpath(cwd);
  for (let top = real; ; top = dirname(top)) {
    const entry = join(top, '.git');
    const directory = await gitDirectory(entry, files);
    if (directory) {
      const common = (await text(join(directory, 'commondir'), files))?.trim();
      const named = [...new Set([entry, directory, ...(common ? [resolve(directory, common)] : [])])];
      const resolved = await Promise.all(named.map((path) => files.realpath(path)));
      const controlPaths = [...new Set([...named, ...resolved])];
      return { top, controlPaths, inWorkTree: !controlPaths.some((path) => isInside(real, path)) };
    }
    if (dirname(top) === top) return undefined;
  }
}
