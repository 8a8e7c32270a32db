/** What Grep and Glob have in common: where they search, what they never show, and the order by age. */
import { stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { isInside, realPath } from './paths.ts';
import type { Target } from './paths.ts';
import { VCS_DIRECTORIES } from './ripgrep.ts';
import { isSensitivePath } from '#server/permissions/sensitive-files.ts';

const STAT_BATCH = 64;
const vcsNames = new Set(VCS_DIRECTORIES);

export interface SearchScope {
  /** ripgrep's working directory. */
  directory: string;
  /** What it is told to search in there. */
  argument: string;
}

/** A single file is searched from its directory, so that its name can never be taken for an option. Undefined: no such path. */
export async function searchScope(target: Target): Promise<SearchScope | undefined> {
  const stats = await stat(target.path).catch(() => undefined);
  if (!stats) return undefined;
  if (stats.isDirectory()) return { directory: target.path, argument: './' };
  return { directory: dirname(target.path), argument: `./${basename(target.path)}` };
}

/** ripgrep prints `./a/b`. */
export const stripDot = (path: string) => (path.startsWith(`.${sep}`) ? path.slice(2) : path);

export interface Visibility {
  /** The file may hold secrets. */
  sensitive(name: string): boolean;
  /** The file lies in the bookkeeping of a version control system. */
  versionControl(name: string): boolean;
}

/** Under `cwd` only what is below it counts. */
function inVersionControl(path: string, cwd: string): boolean {
  const counted = isInside(path, cwd) ? relative(cwd, path) : path;
  return counted.split(sep).some((segment) => vcsNames.has(segment));
}

/** What a search must not show of `directory`: judged by paths as named and with the search root's links resolved. */
export async function visibilityIn(directory: string, target: Target, cwd: string): Promise<Visibility> {
  const realDirectory = await realPath(directory);
  const realCwd = await realPath(cwd);
  const rootSensitive = isSensitivePath(target.path) || isSensitivePath(target.real);
  const rootVersionControl = inVersionControl(target.path, cwd) || inVersionControl(target.real, realCwd);
  return {
    sensitive: (name) =>
      rootSensitive || isSensitivePath(join(directory, name)) || isSensitivePath(join(realDirectory, name)),
    versionControl: (name) =>
      rootVersionControl ||
      inVersionControl(join(directory, name), cwd) ||
      inVersionControl(join(realDirectory, name), realCwd),
  };
}

/** Relative to `cwd` when under it, else absolute. */
export function displayPath(path: string, cwd: string): string {
  const rest = relative(cwd, path);
  return isInside(path, cwd) && !isAbsolute(rest) ? rest : path;
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Newest first in steps of `stepMs`, equal ones by path; files that have vanished are left out. */
export async function newestFirst(directory: string, names: readonly string[], stepMs: number): Promise<string[]> {
  const dated: { name: string; step: number }[] = [];
  for (let start = 0; start < names.length; start += STAT_BATCH) {
    const batch = names.slice(start, start + STAT_BATCH);
    const stats = await Promise.all(batch.map((name) => stat(join(directory, name)).catch(() => undefined)));
    for (const [index, name] of batch.entries()) {
      const found = stats[index];
      if (found) dated.push({ name, step: Math.floor(found.mtimeMs / stepMs) });
    }
  }
  return dated.sort((a, b) => b.step - a.step || byText(a.name, b.name)).map(({ name }) => name);
}

export const inPathOrder = (names: readonly string[]) => [...names].sort(byText);
