/** Files of git repositories, and writes that would make a repository: git starts programs that its files name. */
import { dirname, sep } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import type { Repository } from '#server/project-files/repository.ts';
import { findsBareRepository } from '#server/git/discovery.ts';
import type { Decision, FileAccess, PermissionContext, PermissionStep } from '../decision.ts';
import { passesThrough, workingDirectory } from './passes-through.ts';

export const gitPaths: PermissionStep = async (_call, context) => {
  const files = await context.files();
  if (files.length === 0) return undefined;
  const cwd = await workingDirectory(context);
  const repository = await context.repository();
  if (files.some((file) => passesThrough(file, cwd, '.git') || isControlled(file, repository))) {
    return context.ask("The path belongs to git's own files.");
  }
  return (await writesBareRepository(files, context))
    ? context.ask('The directory is, or becomes with this file, a git repository, whose files name programs.')
    : undefined;
};

const isControlled = ({ path, real }: FileAccess, repository: Repository | undefined) =>
  repository?.controlPaths.some((control) => isInside(path, control) || isInside(real, control)) ?? false;

type RepositoryContext = Pick<PermissionContext, 'pendingWrites' | 'places' | 'repository'>;

/**
 * Whether one of the written files lies in what git takes for a bare repository, or completes one: together with what is
 * on the disk and what earlier calls of the same response write.
 */
async function writesBareRepository(
  files: readonly FileAccess[],
  { pendingWrites, places, repository }: RepositoryContext,
): Promise<boolean> {
  const written = files.filter(({ writes }) => writes).map(({ real }) => real);
  if (written.length === 0) return false;
  const search = { written: [...written, ...(await pendingWrites())], top: (await repository())?.top };
  const found = await Promise.all(written.map((real) => findsBareRepository(dirname(real), places.runtime, search)));
  return found.includes(true);
}

const PART_NAMES = new Set(['head', 'commondir']);
const PART_FOLDERS = new Set(['objects', 'refs']);

/** Whether git looks for a file of this name when it decides whether a directory is a repository. */
function isRepositoryPart({ real }: FileAccess): boolean {
  const segments = real.toLowerCase().split(sep);
  return PART_NAMES.has(segments.at(-1) ?? '') || segments.some((segment) => PART_FOLDERS.has(segment));
}

/** The check of a write that was approved unasked, repeated when it runs: another agent may have written the rest. */
export function bareRepositoryCheck(
  files: readonly FileAccess[],
  context: RepositoryContext,
): Pick<Decision, 'outdated'> {
  if (!files.some(isRepositoryPart)) return {};
  return {
    outdated: async () =>
      (await writesBareRepository(files, context)) ? 'The file would complete a git repository by now.' : undefined,
  };
}
