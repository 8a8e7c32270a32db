/** Files of git repositories, and writes that would create one: git starts programs that these files name. */
import { dirname, sep } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import { gitEntryHolders } from '#server/project-files/git-entries.ts';
import type { Repository } from '#server/project-files/repository.ts';
import { findsBareRepository } from '#server/git/discovery.ts';
import { isOutputOption } from '../git-output.ts';
import type { Decision, FileAccess, PermissionContext, PermissionStep } from '../decision.ts';
import { passesThrough, workingDirectory } from './passes-through.ts';

export const gitPaths: PermissionStep = async (_call, context) => {
  const files = await context.files();
  const reason = files.length === 0 ? undefined : await reasonOf(files, context);
  return reason === undefined ? undefined : context.ask(reason);
};

/** Whether a write to the file needs approval because of git. */
export const isAskedByGit = async (file: FileAccess, context: PermissionContext): Promise<boolean> =>
  (await reasonOf([file], context)) !== undefined;

async function reasonOf(files: readonly FileAccess[], context: PermissionContext): Promise<string | undefined> {
  const cwd = await workingDirectory(context);
  const repository = await context.repository();
  if (files.some((file) => passesThrough(file, cwd, (name) => name === '.git') || isControlled(file, repository))) {
    return "The path belongs to git's own files.";
  }
  if (files.some((file) => file.writes && passesThrough(file, cwd, isOutputOption))) {
    return 'A pattern in a command line could become this name, which git takes for an option.';
  }
  const [bare, configured] = await Promise.all([
    writesBareRepository(files, context),
    writesConfiguredFile(files, context),
  ]);
  if (bare) return 'The directory is, or becomes with this file, a git repository, whose files name programs.';
  if (configured === 'unknown') return 'Git cannot read its configuration, which may name the file.';
  return configured ? "Git's configuration names the file: git reads it, or starts it." : undefined;
}

const isControlled = ({ path, real }: FileAccess, repository: Repository | undefined) =>
  repository?.controlPaths.some((control) => isInside(path, control) || isInside(real, control)) ?? false;

type RepositoryContext = Pick<PermissionContext, 'pendingWrites' | 'places' | 'repository'>;

/**
 * Whether one of the written files is in a directory that git treats as a bare repository, or completes one, together
 * with files on the disk and files that earlier calls of the same response write.
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

/** Returns the repository of the working directory, and the nested or other repositories that contain the file. */
async function repositoriesOf({ real }: FileAccess, context: PermissionContext): Promise<Repository[]> {
  const around = await context.repository();
  const found = [around];
  for await (const directory of gitEntryHolders(dirname(real), context.places.runtime)) {
    if (directory === around?.top) break;
    found.push(await context.repositoryAround(directory));
  }
  return found.filter((repository) => repository !== undefined);
}

/** Whether git reads settings from one of the written files, or starts it. */
async function writesConfiguredFile(
  files: readonly FileAccess[],
  context: PermissionContext,
): Promise<boolean | 'unknown'> {
  for (const file of files.filter(({ writes }) => writes)) {
    for (const repository of await repositoriesOf(file, context)) {
      const configured = await context.configuredFiles(repository);
      if (!configured) return 'unknown';
      if (configured.has(file)) return true;
    }
  }
  return false;
}

const PART_NAMES = new Set(['head', 'commondir']);
const PART_FOLDERS = new Set(['objects', 'refs']);

/** Whether git checks for a file of this name to decide whether a directory is a repository. */
function isRepositoryPart({ real }: FileAccess): boolean {
  const segments = real.toLowerCase().split(sep);
  return PART_NAMES.has(segments.at(-1) ?? '') || segments.some((segment) => PART_FOLDERS.has(segment));
}

/** Repeats the check of an automatically approved write when it runs: other agents write concurrently. */
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
