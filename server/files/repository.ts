/** The git repository around a directory, read from the files themselves: no git process per decision. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isInside, realPath } from './paths.ts';

export interface Repository {
  /** Top of the work tree. */
  top: string;
  /** The `.git` entry and the real git directories behind it (of a linked work tree also the main one). */
  controlPaths: string[];
  /** False inside the git directory itself, which is no work tree. */
  inWorkTree: boolean;
}

const isFile = async (path: string) => (await stat(path).catch(() => undefined))?.isFile() ?? false;
const text = (path: string) => readFile(path, 'utf8').catch(() => undefined);

/** The git directory a `.git` entry stands for; undefined when it is none. */
async function gitDirectory(entry: string): Promise<string | undefined> {
  const stats = await stat(entry).catch(() => undefined);
  if (!stats) return undefined;
  if (stats.isDirectory()) return (await isFile(join(entry, 'HEAD'))) ? entry : undefined;
  const pointer = /^gitdir: (.+?)\r?\n?$/.exec((await text(entry)) ?? '')?.[1];
  if (!pointer) return undefined;
  const directory = resolve(dirname(entry), pointer);
  return (await isFile(join(directory, 'HEAD'))) ? directory : undefined;
}

/** The repository that `cwd` (links resolved) lies in; undefined outside of any. */
export async function findRepository(cwd: string): Promise<Repository | undefined> {
  for (let top = await realPath(cwd); ; top = dirname(top)) {
    const entry = join(top, '.git');
    const directory = await gitDirectory(entry);
    if (directory) {
      const common = (await text(join(directory, 'commondir')))?.trim();
      const named = [entry, directory, ...(common ? [resolve(directory, common)] : [])];
      const controlPaths = [...new Set([...named, ...(await Promise.all(named.map((path) => realPath(path))))])];
      const real = await realPath(cwd);
      return { top, controlPaths, inWorkTree: !controlPaths.some((path) => isInside(real, path)) };
    }
    if (dirname(top) === top) return undefined;
  }
}
