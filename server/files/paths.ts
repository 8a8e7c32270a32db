/** The path policy of engine.md §4.2: what a path argument means and which folders count as the workspace. */
import { readlink, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import { errorCode } from './errno.ts';
import { isSensitivePath } from '#server/permissions/sensitive-files.ts';
import { ToolInputError } from '#server/tools/tool.ts';
import type { ToolEnvironment } from '#server/tools/tool.ts';

type Roots = Pick<ToolEnvironment, 'cwd' | 'additionalDirs' | 'skillDirs'>;

const MAX_LINKS = 40;

/** A path argument after resolving: as named, and with every link resolved. */
export interface Target {
  path: string;
  real: string;
}

/**
 * The path with all links resolved. What does not exist yet is placed under its nearest existing ancestor; a link to
 * nowhere is followed too, since writing through it would create its target. Throws on link cycles and unreadable folders.
 */
export async function realPath(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    const parent = dirname(path);
    if (parent === path) return path;
    const realParent = await realPath(parent, links);
    const target = await readlink(path).catch(() => undefined);
    if (target === undefined) return join(realParent, basename(path));
    if (links >= MAX_LINKS) throw new Error(`too many links: ${path}`, { cause: error });
    return realPath(resolve(realParent, target), links + 1);
  }
}

/** Whether `path` is `root` or lies in it; both absolute, compared as written. */
export function isInside(path: string, root: string): boolean {
  const rest = relative(root, path);
  return rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

/** Whether a path with links resolved lies in one of the folders, their own links resolved too. */
export async function isInsideAny(real: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) if (isInside(real, await realPath(folder))) return true;
  return false;
}

/** `/c/x` as Git's shells on Windows write it becomes `c:\x`; `C:x`, relative to a drive, is refused. */
export function fromWindowsForm(input: string): string {
  if (/^[a-z]:(?![\\/])/i.test(input))
    throw new ToolInputError(`${input} is relative to a drive; give an absolute path.`);
  const drive = /^\/([a-z])(?=\/|$)/i.exec(input);
  return drive ? `${drive[1]}:\\${input.slice(3).replaceAll('/', '\\')}` : input;
}

/** Expands `~` and resolves against the session's `cwd`; no look at the disk. */
export function absolutePath(input: string, cwd: string): string {
  if (input.includes('\0')) throw new ToolInputError('The path contains a NUL character.');
  const given = process.platform === 'win32' ? fromWindowsForm(input) : input;
  if (given === '~') return homedir();
  if (given.startsWith('~/') || (sep === '\\' && given.startsWith('~\\'))) return join(homedir(), given.slice(2));
  return resolve(cwd, given);
}

/**
 * Resolves a path argument. Throws `ToolInputError` for a relative path that leads outside the workspace, also through
 * a link; an absolute one may lie anywhere, permissions decide about it.
 */
export async function resolveTarget(input: string, roots: Roots): Promise<Target> {
  const path = absolutePath(input, roots.cwd);
  let real: string;
  try {
    real = await realPath(path);
  } catch (error) {
    throw new ToolInputError(`Cannot resolve ${input}: ${errorMessage(error)}`);
  }
  const relativeInput = !isAbsolute(input) && !input.startsWith('~');
  if (relativeInput && !(await isInsideAny(real, [roots.cwd, ...roots.additionalDirs, ...roots.skillDirs]))) {
    throw new ToolInputError(`${input} leads outside the workspace; give an absolute path to reach it.`);
  }
  return { path, real };
}

/** As `resolveTarget`, for tools that read or write the file itself: sensitive files are refused outright. */
export async function resolveFile(input: string, roots: Roots): Promise<Target> {
  const target = await resolveTarget(input, roots);
  if (isSensitivePath(target.path) || isSensitivePath(target.real)) {
    throw new ToolInputError(`${input} is a sensitive file (it may hold secrets) and is not accessible to tools.`);
  }
  return target;
}

/**
 * Looked at again when the call begins to run: an earlier call may have put a link where nothing was when permission
 * was given. Returns the error text.
 */
export async function movedSince(target: Target): Promise<string | undefined> {
  const real = await realPath(target.path).catch(() => undefined);
  return real === target.real ? undefined : `${target.path} leads to another place than when the call was checked.`;
}

/** Whether the path is a directory; the text says what is wrong. */
export async function directoryProblem(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) return `${path} does not exist.`;
  return stats.isDirectory() ? undefined : `${path} is not a directory.`;
}
