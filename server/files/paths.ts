/** The path policy: what a path argument means and which folders count as the workspace. */
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { directoryFault } from './file-kind.ts';

/** The workspace, and the machine it lies on. */
export interface Reach {
  runtime: Pick<Runtime, 'homeDirectory' | 'realpath'>;
  cwd: string;
  additionalDirs: () => Promise<readonly string[]>;
  skillDirs: readonly string[];
}

/** A path argument after resolving: as named, and with every link resolved. */
export interface Target {
  path: string;
  real: string;
}

/** A path argument that the policy does not allow. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

/** Whether `path` is `root` or lies in it; both absolute, compared as written. */
export function isInside(path: string, root: string): boolean {
  const rest = relative(root, path);
  return rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

/** Whether a path with links resolved lies in one of the folders, their own links resolved too. */
export async function isInsideAny(
  real: string,
  folders: readonly string[],
  runtime: Pick<Runtime, 'realpath'>,
): Promise<boolean> {
  // A real path has no link in it, so neither has a folder that it begins with.
  if (folders.some((folder) => isInside(real, folder))) return true;
  for (const folder of folders) if (isInside(real, await runtime.realpath(folder))) return true;
  return false;
}

/**
 * As `isInsideAny`, of the working directory, the additional ones and `more`. The additional ones are asked for where the
 * others do not hold the path.
 */
export async function isInWorkspace(
  real: string,
  { cwd, additionalDirs, runtime }: Pick<Reach, 'cwd' | 'additionalDirs'> & { runtime: Pick<Runtime, 'realpath'> },
  more: readonly string[] = [],
): Promise<boolean> {
  if (await isInsideAny(real, [cwd, ...more], runtime)) return true;
  return isInsideAny(real, await additionalDirs(), runtime);
}

/** The directories from `root`, which must hold `directory`, down to it. */
export function directoriesDown(root: string, directory: string): string[] {
  const chain: string[] = [];
  for (let current = directory; ; current = dirname(current)) {
    chain.unshift(current);
    if (current === root || dirname(current) === current) return chain;
  }
}

/** Relative to `cwd` when under it, else absolute. */
export const displayPath = (path: string, cwd: string): string => (isInside(path, cwd) ? relative(cwd, path) : path);

/** `/c/x` as Git's shells on Windows write it becomes `c:\x`; `C:x`, relative to a drive, is refused. */
export function fromWindowsForm(input: string): string {
  if (/^[a-z]:(?![\\/])/i.test(input)) throw new PathError(`${input} is relative to a drive; give an absolute path.`);
  const drive = /^\/([a-z])(?=\/|$)/i.exec(input);
  return drive ? `${drive[1]}:\\${input.slice(3).replaceAll('/', '\\')}` : input;
}

/** Expands `~` and resolves against the session's `cwd`; no look at the disk. */
export function absolutePath(input: string, { cwd, runtime }: Pick<Reach, 'cwd' | 'runtime'>): string {
  if (input.includes('\0')) throw new PathError('The path contains a NUL character.');
  const given = process.platform === 'win32' ? fromWindowsForm(input) : input;
  if (given === '~') return runtime.homeDirectory();
  if (given.startsWith('~/') || (sep === '\\' && given.startsWith('~\\'))) {
    return join(runtime.homeDirectory(), given.slice(2));
  }
  return resolve(cwd, given);
}

/**
 * Resolves a path argument. Throws `PathError` for a relative path that leads outside the workspace, also through a
 * link; an absolute one may lie anywhere, permissions decide about it.
 */
export async function resolveTarget(input: string, reach: Reach): Promise<Target> {
  const path = absolutePath(input, reach);
  let real: string;
  try {
    real = await reach.runtime.realpath(path);
  } catch (error) {
    throw new PathError(`Cannot resolve ${input}: ${errorMessage(error)}`);
  }
  const relativeInput = !isAbsolute(input) && !input.startsWith('~');
  if (relativeInput && !(await isInWorkspace(real, reach, reach.skillDirs))) {
    throw new PathError(`${input} leads outside the workspace; give an absolute path to reach it.`);
  }
  return { path, real };
}

/**
 * Looked at again when the call begins to run: an earlier call may have put a link where nothing was when permission
 * was given. Returns the error text.
 */
export async function movedSince(target: Target, runtime: Pick<Runtime, 'realpath'>): Promise<string | undefined> {
  const real = await runtime.realpath(target.path).catch(() => undefined);
  return real === target.real ? undefined : `${target.path} leads to another place than when the call was checked.`;
}

/** As `movedSince`, for a path that must be a directory. */
export async function directoryProblem(
  target: Target,
  runtime: Pick<Runtime, 'realpath' | 'stat'>,
): Promise<string | undefined> {
  const moved = await movedSince(target, runtime);
  if (moved) return moved;
  const fault = await directoryFault(target.path, runtime.stat);
  if (!fault) return undefined;
  const what = { missing: 'does not exist', forbidden: 'cannot be read', 'not a directory': 'is not a directory' };
  return `${target.path} ${what[fault]}.`;
}
