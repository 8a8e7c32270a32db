/** Checks allowed lines that run git: git must not start programs that unapproved writes created or changed. */
import { discoverRepository, findsBareRepository } from '#server/git/discovery.ts';
import { isInside } from '#server/files/paths.ts';
import { isInWorkspace } from '#server/runtime/path-policy.ts';
import type { CommandCall } from '../command-call.ts';
import type { Decision, PermissionContext } from '../decision.ts';
import { isAskedByGit } from './git-paths.ts';

/**
 * Approves a line that rules allow; undefined passes it to the next step. Git is not approved where it would find a
 * bare repository, which may have been built from ordinary files, and whose configuration names programs. Nor, unless
 * `anyLine`, where a repository names programs or settings that a write may change without approval: a rule that allows
 * any line allows those programs, too.
 */
export async function lineApproval(
  command: CommandCall,
  context: PermissionContext,
  { anyLine }: { anyLine: boolean },
): Promise<Decision | undefined> {
  const directory = async () => (await command.directory()).path;
  const findsBare = async () => findsBareRepository(await directory(), context.places.runtime);
  const runsGit = await command.runsGit();
  if ((await findsBare()) && (runsGit || (await command.reading()).unreadable)) return undefined;
  if (!runsGit) return { kind: 'approve' };
  if (!anyLine && (await startsUnguardedFiles(await directory(), context))) return undefined;
  return {
    kind: 'approve',
    explicitGit: true,
    outdated: async () =>
      (await findsBare()) ? 'The directory of the command is a bare git repository by now.' : undefined,
  };
}

/**
 * Whether git that runs in the directory (links resolved) may read or start a file that a write changes without
 * approval. Writes are checked against the repositories around the file and the working directory only, so a repository
 * in another directory may name such files.
 */
async function startsUnguardedFiles(directory: string, context: PermissionContext): Promise<boolean> {
  const { places } = context;
  const around = await context.repository();
  // Without a repository every write needs approval.
  if (!around) return false;
  const found = await discoverRepository(directory, places.runtime);
  if (!found?.gitDirectory || found.directory === around.top) return false;
  const repository = await context.repositoryAround(found.directory);
  if (repository?.top !== found.directory) return true;
  const [named, guarded] = await Promise.all([context.configuredFiles(repository), context.configuredFiles(around)]);
  // If the settings of the working directory's repository cannot be read, every write needs approval.
  if (!guarded) return false;
  if (!named || named.unplaced.some((end) => !guarded.unplaced.includes(end))) return true;

  const { top } = repository;
  // Most paths are below the repository's top, where writes are checked against it.
  const isGuardedByIt = (path: string) =>
    isInside(path, top) && !(isInside(around.top, top) && isInside(path, around.top));
  for (const path of named.paths) {
    const file = { path, real: path, writes: true };
    if (isGuardedByIt(path) || guarded.has(file) || !(await isInWorkspace(path, places))) continue;
    if (!(await isAskedByGit(file, context))) return true;
  }
  return false;
}
