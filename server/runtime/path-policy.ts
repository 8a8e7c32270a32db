/** Path policy: resolves path arguments and decides which directories belong to the workspace. */
import { isAbsolute, join, resolve, sep } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import { directoryFault } from '#server/files/file-kind.ts';
import { fromWindowsForm, isInside, PathError } from '#server/files/paths.ts';
import type { Runtime } from './runtime.ts';

/** The directories of a workspace and the runtime that they are on. */
export interface Reach {
  runtime: Pick<Runtime, 'homeDirectory' | 'realpath'>;
  cwd: string;
  additionalDirs: () => Promise<readonly string[]>;
  readableDirs: () => Promise<readonly string[]>;
}

/** A resolved path argument: as named, and with all links resolved. */
export interface Target {
  path: string;
  real: string;
}

/** True if a real path is inside one of the folders, whose links are resolved too. */
export async function isInsideAny(
  real: string,
  folders: readonly string[],
  runtime: Pick<Runtime, 'realpath'>,
): Promise<boolean> {
  // A real path contains no links, so neither does a folder that is its prefix.
  if (folders.some((folder) => isInside(real, folder))) return true;
  for (const folder of folders) if (isInside(real, await runtime.realpath(folder))) return true;
  return false;
}

/**
 * Like `isInsideAny`, for the working directory, `more` and the additional directories, which are requested only if the
 * others do not contain the path.
 */
export async function isInWorkspace(
  real: string,
  { cwd, additionalDirs, runtime }: Pick<Reach, 'cwd' | 'additionalDirs'> & { runtime: Pick<Runtime, 'realpath'> },
  more: readonly string[] = [],
): Promise<boolean> {
  if (await isInsideAny(real, [cwd, ...more], runtime)) return true;
  return isInsideAny(real, await additionalDirs(), runtime);
}

/** Expands `~` and resolves against the session's `cwd`, without file system access. */
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
 * link; an absolute one is allowed here, permissions decide about it.
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
  if (!relativeInput || (await isInWorkspace(real, reach))) return { path, real };
  if (!(await isInsideAny(real, await reach.readableDirs(), reach.runtime))) {
    throw new PathError(`${input} leads outside the workspace; give an absolute path to reach it.`);
  }
  return { path, real };
}

/**
 * Checks the target again when the call starts: an earlier call may have created a link there after the approval.
 * Returns the error text.
 */
export async function movedSince(target: Target, runtime: Pick<Runtime, 'realpath'>): Promise<string | undefined> {
  const real = await runtime.realpath(target.path).catch(() => undefined);
  return real === target.real ? undefined : `${target.path} leads to another place than when the call was checked.`;
}

/** Like `movedSince`, for a path that must be a directory. */
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
