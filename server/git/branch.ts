/** The checked out branch of a work tree. */
import type { WorkTree } from './work-tree.ts';

const BRANCHES = 'refs/heads/';
const MAX_BYTES = 4096;

/** Returns the branch, which may have no commit yet; null on a detached HEAD. Throws the errors of the work tree. */
export async function readBranch(tree: WorkTree): Promise<string | null> {
  let printed = '';
  const { exitCode, stopped } = await tree.run(['symbolic-ref', '--quiet', 'HEAD'], {
    onText: (text) => void (printed += text),
    maxOutputBytes: MAX_BYTES,
  });
  const reference = printed.trimEnd();
  if (exitCode !== 0 || stopped || !reference.startsWith(BRANCHES)) return null;
  return reference.slice(BRANCHES.length);
}
