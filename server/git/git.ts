/** Git as the file actions use it. */
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { WorkDirectory } from '#server/files/work-directory.ts';
import { createMarks, type GitMarks } from './marks.ts';
import { createPullRequests, type PullRequests } from './pull-request.ts';
import { readStatus } from './status.ts';
import { dirtySubmodules } from './submodules.ts';
import { openWorkTree, type GitRuntime, type WorkTree } from './work-tree.ts';

export interface Git {
  /** Throws 40908 and the signal's reason. */
  open(directory: string, signal: AbortSignal): Promise<WorkTree>;
  /** Undefined without git and outside of a repository. Throws the signal's reason. */
  marks(directory: Pick<WorkDirectory, 'root'>, signal: AbortSignal): Promise<GitMarks | undefined>;
  pullRequests: PullRequests;
  close(): void;
}

export function createGit({ runtime, clock }: { runtime: GitRuntime; clock: Pick<Clock, 'now'> }): Git {
  const pullRequests = createPullRequests({ runtime, clock });
  const open: Git['open'] = (directory, signal) => openWorkTree(directory, { runtime, signal });
  return {
    open,
    async marks({ root }, signal) {
      try {
        const marks = createMarks();
        const tree = await open(root, signal);
        await readStatus(tree, { ignored: true, onEntry: marks.add });
        for (const path of await dirtySubmodules(tree, marks.known)) {
          marks.add({ path, status: 'modified' });
        }
        return marks.of;
      } catch (error) {
        if (error instanceof ServiceError && error.name === 'fs.git_unavailable') return undefined;
        throw error;
      }
    },
    pullRequests,
    close: pullRequests.close,
  };
}
