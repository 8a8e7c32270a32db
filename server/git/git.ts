/** Git for the file actions and the lists of sessions. */
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { WorkDirectory } from '#server/files/work-directory.ts';
import type { GitMarks } from './marks.ts';
import { createGitFacts, type GitFactsCache } from './facts.ts';
import { createPullRequests, type PullRequests } from './pull-request.ts';
import { readMarks } from './read-marks.ts';
import { openWorkTree, type GitRuntime, type WorkTree } from './work-tree.ts';

export interface Git {
  /** Throws `fs.git_unavailable` and the signal's reason. */
  open(directory: string, signal: AbortSignal): Promise<WorkTree>;
  /** Undefined without git and outside of a repository. Throws the signal's reason. */
  marks(directory: Pick<WorkDirectory, 'root'>, signal: AbortSignal): Promise<GitMarks | undefined>;
  pullRequests: PullRequests;
  facts: GitFactsCache;
  close(): void;
}

export interface GitDeps {
  runtime: GitRuntime;
  clock: Clock;
  /** Time limit of all processes of one request together; default `GIT_TIMEOUT_MS`. */
  timeoutMs?: number | undefined;
}

export function createGit({ runtime, clock, timeoutMs }: GitDeps): Git {
  const pullRequests = createPullRequests({ runtime, clock });
  const open: Git['open'] = (directory, signal) => openWorkTree(directory, { runtime, signal, timeoutMs });
  const facts = createGitFacts({ open, pullRequests, clock });
  return {
    open,
    async marks({ root }, signal) {
      try {
        return await readMarks(await open(root, signal));
      } catch (error) {
        if (error instanceof ServiceError && error.name === 'fs.git_unavailable') return undefined;
        throw error;
      }
    },
    pullRequests,
    facts,
    close() {
      facts.close();
      pullRequests.close();
    },
  };
}
