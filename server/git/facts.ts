/**
 * Cache of the branch and the pull request of directories, for lists of sessions. A directory that hangs occupies a slot
 * only for a limited time; the call of the file system, which cannot be cancelled, occupies a thread until it returns.
 */
import type { GitFacts } from '#schema/rest/session-listing.ts';
import { abortable } from '#server/async/abortable.ts';
import { createSemaphore } from '#server/async/semaphore.ts';
import type { Clock } from '#server/clock.ts';
import { readBranch } from './branch.ts';
import type { PullRequests } from './pull-request.ts';
import type { WorkTree } from './work-tree.ts';

const LOOKUPS_AT_ONCE = 8;
const CACHED_MS = 60_000;
/** How long a reader waits for its directories. */
export const FACTS_WAIT_MS = 3_000;
/** Less than a reader waits: the directories after one that hangs are still in its reply. */
export const OPEN_LIMIT_MS = 2_500;
/** No lookup starts while this many directories hang: each occupies one of 16 threads for calls to the file system. */
const MAX_HANGING = 8;

const NO_FACTS: GitFacts = { branch: null, pull_request: null };

export interface GitFactsCache {
  /**
   * Reads the facts of directories, at most 8 at a time, and resolves after 3 s at the latest: those that are missing
   * by then arrive in the cache. Members are null where there is no repository, no git or a failure. Never rejects.
   */
  read(directories: Iterable<string>): Promise<ReadonlyMap<string, GitFacts>>;
  close(): void;
}

export interface GitFactsDeps {
  open(directory: string, signal: AbortSignal): Promise<WorkTree>;
  pullRequests: Pick<PullRequests, 'find'>;
  clock: Clock;
}

export function createGitFacts({ open, pullRequests, clock }: GitFactsDeps): GitFactsCache {
  /** In the order of their arrival. */
  const cached = new Map<string, { arrivedAt: number; facts: GitFacts }>();
  const running = new Map<string, Promise<void>>();
  /** Directories whose work tree is still being opened, although their slot was released. */
  const hanging = new Set<string>();
  const slots = createSemaphore(LOOKUPS_AT_ONCE);
  const closed = new AbortController();

  async function openInTime(directory: string): Promise<{ tree: WorkTree; branch: string | null }> {
    const limit = new AbortController();
    const signal = AbortSignal.any([limit.signal, closed.signal]);
    const reading = open(directory, signal).then(async (tree) => ({ tree, branch: await readBranch(tree) }));
    const callOff = clock.setTimeout(() => {
      hanging.add(directory);
      limit.abort(new Error('the directory hangs'));
    }, OPEN_LIMIT_MS);
    reading
      .catch(() => undefined)
      .finally(() => {
        callOff();
        hanging.delete(directory);
      });
    return abortable(reading, signal);
  }

  async function lookUp(directory: string): Promise<GitFacts> {
    const { tree, branch } = await openInTime(directory);
    if (branch === null) return NO_FACTS;
    const found = await pullRequests.find(tree, Promise.resolve(branch));
    const pull_request = found && { ...found, state: found.state === 'draft' ? 'open' : found.state };
    return { branch, pull_request };
  }

  function fresh(directory: string): GitFacts | undefined {
    const known = cached.get(directory);
    return known && clock.now() - known.arrivedAt < CACHED_MS ? known.facts : undefined;
  }

  function store(directory: string, facts: GitFacts): void {
    const now = clock.now();
    for (const [other, { arrivedAt }] of cached) {
      if (now - arrivedAt < CACHED_MS) break;
      cached.delete(other);
    }
    cached.delete(directory);
    cached.set(directory, { arrivedAt: now, facts });
  }

  /** Resolves when the facts are cached; concurrent calls share a lookup. */
  function ensure(directory: string): Promise<void> {
    const known = running.get(directory);
    if (known) return known;
    const lookup = slots
      .run(async () => {
        if (closed.signal.aborted || hanging.has(directory) || hanging.size >= MAX_HANGING) return;
        store(directory, await lookUp(directory).catch(() => NO_FACTS));
      })
      .finally(() => running.delete(directory));
    running.set(directory, lookup);
    return lookup;
  }

  return {
    async read(directories) {
      const found = new Map<string, GitFacts>();
      const missing: string[] = [];
      for (const directory of new Set(directories)) {
        const facts = fresh(directory);
        if (facts) found.set(directory, facts);
        else missing.push(directory);
      }
      if (missing.length > 0) {
        await new Promise<void>((resolve) => {
          const callOff = clock.setTimeout(resolve, FACTS_WAIT_MS);
          void Promise.all(missing.map(ensure)).then(() => {
            callOff();
            resolve();
          });
        });
      }
      for (const directory of missing) found.set(directory, fresh(directory) ?? NO_FACTS);
      return found;
    },
    close: () => closed.abort(new Error('the server is stopping')),
  };
}
