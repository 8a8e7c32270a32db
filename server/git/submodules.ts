/**
 * Submodules with changes in them. Git would start a git process in each, which obeys the configuration there; here
 * each is opened like any other work tree, with its filters disabled by name.
 */
import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '#server/errors/service-error.ts';
import type { WorkTree } from './work-tree.ts';

const MAX_SUBMODULES = 200;
const MAX_DEPTH = 4;
const SIDE_BY_SIDE = 4;
const OUTPUT_MAX_BYTES = 1024 * 1024;
/** The mode of an entry of the index that is a commit of another repository. */
const GITLINK = '160000 ';

async function records(tree: WorkTree, args: readonly string[]): Promise<string[]> {
  let text = '';
  const { exitCode } = await tree.run(args, {
    onText: (piece) => void (text += piece),
    maxOutputBytes: OUTPUT_MAX_BYTES,
  });
  return exitCode === 0 ? text.split('\0').filter((record) => record !== '') : [];
}

/** Returns the paths of submodules in `.gitmodules`, relative to the directory of the tree. */
async function declaredPaths(tree: WorkTree): Promise<string[]> {
  const { directory, prefix } = tree;
  const up = '../'.repeat(prefix.split('/').length - 1);
  const file = join(await realpath(directory), up, '.gitmodules');
  const stats = await lstat(file).catch(() => undefined);
  if (!stats?.isFile()) return [];
  const found = await records(tree, ['config', '-z', '--file', file, '--get-regexp', '^submodule\\..*\\.path$']);
  return found.flatMap((record) => {
    const path = record.slice(record.indexOf('\n') + 1);
    return path.startsWith(prefix) && path !== prefix ? [path.slice(prefix.length)] : [];
  });
}

/** Whether anything in the submodule differs from its last commit. */
async function isDirty(tree: WorkTree, path: string, depth: number): Promise<boolean> {
  try {
    const inner = await tree.enter(path);
    // The files of a submodule that is not checked out belong to the repository around it.
    if (inner.prefix !== '') return false;
    const args = ['status', '--porcelain=v1', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'];
    const { cut } = await inner.read(args, { onText: () => undefined, maxOutputBytes: 0 });
    return cut || (depth < MAX_DEPTH && (await dirtySubmodules(inner, new Set(), depth + 1)).length > 0);
  } catch (error) {
    if (error instanceof ServiceError && error.name === 'fs.git_unavailable') return false;
    throw error;
  }
}

/** Returns the submodules with changes in them, except the `known` ones. */
export async function dirtySubmodules(
  tree: WorkTree,
  known: { has(path: string): boolean },
  depth = 0,
): Promise<string[]> {
  const declared = (await declaredPaths(tree)).filter((path) => !known.has(path)).slice(0, MAX_SUBMODULES);
  if (declared.length === 0) return [];
  const listed = await records(tree, ['ls-files', '-z', '--stage', '--', ...declared]);
  const paths = listed.flatMap((record) =>
    record.startsWith(GITLINK) ? [record.slice(record.indexOf('\t') + 1)] : [],
  );
  const dirty: string[] = [];
  for (let start = 0; start < paths.length; start += SIDE_BY_SIDE) {
    const batch = paths.slice(start, start + SIDE_BY_SIDE);
    const found = await Promise.all(batch.map((path) => isDirty(tree, path, depth)));
    dirty.push(...batch.filter((_, index) => found[index]));
  }
  return dirty;
}
