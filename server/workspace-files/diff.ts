/** Diff of a path against the last commit. */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { FileEntry } from '#schema/rest/file-entry.ts';
import type { GitDiff } from '#schema/rest/git.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { isInside } from '#server/files/paths.ts';
import { parentOf, within, type OpenPath, type Within } from '#server/files/open-within.ts';
import { onPath, pathNotFound } from '#server/files/path-error.ts';
import { relativePath, type RelativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import { diffTracked, headOf, isUntracked, type Diff } from '#server/git/diff.ts';
import type { Git } from '#server/git/git.ts';
import { diffNewFile } from '#server/git/new-file.ts';
import { entryAt } from './stat.ts';

/** Git treats a larger file as binary, regardless of its content. */
const MAX_TEXT_BYTES = 512 * 1024 * 1024;
const NOTHING: Diff = { text: '', truncated: false };

/** Returns the entry of a path; undefined when it does not exist. */
async function entryOf(directory: WorkDirectory, inside: Within, path: RelativePath, shown: string) {
  try {
    return await onPath(shown, () => entryAt(directory, inside, path, shown));
  } catch (error) {
    if (error instanceof ServiceError && error.name === 'fs.path_not_found') return undefined;
    throw error;
  }
}

/** Calls `work` with the opened parent directory of a path and the entry's name; with the path itself for `.`. */
async function inParent<Result>(
  inside: Within,
  path: RelativePath,
  shown: string,
  work: (parent: OpenPath, name: string | undefined) => Promise<Result>,
): Promise<Result> {
  const { parent, name } = parentOf(path) ?? { parent: path, name: undefined };
  const place = await inside.open(parent, shown);
  try {
    return await work(place, name);
  } finally {
    await place.close();
  }
}

/**
 * Returns the path that git uses: git follows no link to a file. Undefined where links lead to a directory of another
 * repository.
 */
async function gitPath(directory: WorkDirectory, inside: Within, path: RelativePath, exists: boolean, shown: string) {
  if (!exists) return path;
  const root = await realpath(directory.root);
  return inParent(inside, path, shown, async (parent, name) => {
    const real = name === undefined ? parent.real : join(parent.real, name);
    return isInside(real, root) ? relative(root, real).split(sep).join('/') || '.' : undefined;
  });
}

/** Returns the diff of an untracked file or link as an addition. */
async function wholeFile(inside: Within, entry: FileEntry, shown: RelativePath, path: string, signal: AbortSignal) {
  if (entry.kind === 'symlink') {
    let text: Buffer | undefined = Buffer.from(entry.is_symlink_to ?? '');
    const read = async () => {
      const all = text ?? Buffer.alloc(0);
      text = undefined;
      return all;
    };
    return diffNewFile({ path, mode: '120000', read }, signal);
  }
  const place = await inside.open(shown);
  try {
    const stats = await place.stat();
    // Git ignores pipes and devices.
    if (!stats.isFile()) return NOTHING;
    const file = await open(place.at, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const read = async (maxBytes: number) => {
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(maxBytes), 0, maxBytes);
        return buffer.subarray(0, bytesRead);
      };
      const mode = stats.mode & 0o100 ? '100755' : '100644';
      const diff = await diffNewFile({ path, mode, read, tooLarge: stats.size > MAX_TEXT_BYTES }, signal);
      await place.confirm();
      return diff;
    } finally {
      await file.close();
    }
  } finally {
    await place.close();
  }
}

/** Throws `fs.path_not_found`, `fs.permission_denied`, `fs.git_unavailable`, `fs.path_escapes_session`. */
export async function diffPath(
  git: Git,
  directory: WorkDirectory,
  input: string,
  signal: AbortSignal,
): Promise<GitDiff> {
  const path = relativePath(input);
  const inside = await within(directory);
  const entry = await entryOf(directory, inside, path, input);
  const tree = await git.open(directory.root, signal);
  const named = await onPath(input, () => gitPath(directory, inside, path, entry !== undefined, input));
  if (named === undefined) return { path, diff: '', truncated: false };

  const isFile = entry !== undefined && entry.kind !== 'directory';
  const [head, untracked] = await Promise.all([headOf(tree), isFile && isUntracked(tree, named)]);
  const whole = isFile && (untracked || head === undefined);
  const diff = whole ? NOTHING : await diffTracked(tree, named, head);
  if (!entry && diff.text === '') throw pathNotFound(input);
  const shown = whole ? await onPath(input, () => wholeFile(inside, entry, path, tree.prefix + named, signal)) : diff;
  return { path, diff: shown.text, truncated: shown.truncated };
}
