/** Changes in a session's directory, and the pull request of its branch. */
import type { GitStatusReply } from '#schema/rest/git.ts';
import { within } from '#server/files/open-within.ts';
import { onPath } from '#server/files/path-error.ts';
import { relativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import type { Git } from '#server/git/git.ts';
import { gitStatus } from '#server/git/status.ts';

/** `inputs` filter the entries. Throws `validation.failed`, `fs.git_unavailable`, `fs.path_escapes_session`. */
export async function statusOf(
  git: Git,
  directory: WorkDirectory,
  inputs: readonly string[],
  signal: AbortSignal,
): Promise<GitStatusReply> {
  const paths = inputs.map((input, index) => relativePath(input, `paths.${index}`));
  if (paths.length > 0) {
    const inside = await within(directory);
    for (const [index, path] of paths.entries()) {
      const shown = inputs[index] ?? path;
      await onPath(shown, () => inside.check(path, shown), `paths.${index}`);
    }
  }
  const tree = await git.open(directory.root, signal);
  const status = gitStatus(tree, paths);
  const branch = status.then((found) => found.branch);
  const [found, pullRequest] = await Promise.all([status, git.pullRequests.find(tree, branch)]);
  return { ...found, pullRequest };
}
