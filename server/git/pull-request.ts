/** Cache of the pull request of each work directory's branch, read from GitHub's tool `gh`. */
import * as z from 'zod';
import type { PullRequest } from '#schema/rest/git.ts';
import { jsonText } from '#server/text/json-text.ts';
import type { Clock } from '#server/clock.ts';
import { runCommand } from '#server/processes/run-command.ts';
import type { GitRuntime, WorkTree } from './work-tree.ts';

export const GH_TIMEOUT_MS = 5000;
/** Bytes that gh and the git that it starts may allocate. */
const GH_MAX_MEMORY = 2 * 1024 ** 3;
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 256;
const GH_MAX_BYTES = 64 * 1024;

const ghReply = jsonText.pipe(
  z.object({
    number: z.int().min(1),
    url: z.url({ protocol: /^https?$/ }),
    state: z.enum(['OPEN', 'MERGED', 'CLOSED']),
    isDraft: z.boolean(),
  }),
);

const STATES = { OPEN: 'open', MERGED: 'merged', CLOSED: 'closed' } as const;

export interface PullRequests {
  /** Finds the current branch's pull request; null if there is none or `gh` is missing or fails. Never rejects. */
  find(tree: WorkTree, branch: Promise<string>): Promise<PullRequest | null>;
  close(): void;
}

interface Remembered {
  askedAt: number;
  /** The branch that was checked out at that time; undefined if it could not be read. */
  branch: Promise<string | undefined>;
  found: Promise<PullRequest | null>;
}

export function createPullRequests({
  runtime,
  clock,
  timeoutMs = GH_TIMEOUT_MS,
}: {
  runtime: GitRuntime;
  clock: Pick<Clock, 'now'>;
  timeoutMs?: number;
}): PullRequests {
  /** Keyed by directory, least recently queried first. */
  const remembered = new Map<string, Remembered>();
  const closed = new AbortController();

  async function ask({ directory, environment, findProgram }: WorkTree): Promise<PullRequest | null> {
    const gh = await findProgram('gh');
    if (gh === undefined) return null;
    let printed = '';
    const { exitCode, stopped } = await runCommand(runtime.spawn, {
      file: gh,
      args: ['pr', 'view', '--json', 'number,url,state,isDraft'],
      cwd: directory,
      env: { ...environment, GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1', GH_PAGER: 'cat' },
      maxMemory: GH_MAX_MEMORY,
      signal: closed.signal,
      timeoutMs,
      maxOutputBytes: GH_MAX_BYTES,
      graceMs: () => 0,
      onText(stream, text) {
        if (stream === 'stdout') printed += text;
      },
    });
    const reply = exitCode === 0 && !stopped ? ghReply.safeParse(printed).data : undefined;
    if (!reply) return null;
    const { number, url, state, isDraft } = reply;
    return { number, url, state: isDraft && state === 'OPEN' ? 'draft' : STATES[state] };
  }

  function askAnew(tree: WorkTree, branch: Promise<string>): Promise<PullRequest | null> {
    const found = ask(tree).catch(() => null);
    remembered.delete(tree.directory);
    const [oldest] = remembered.keys();
    if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    remembered.set(tree.directory, { askedAt: clock.now(), branch: branch.catch(() => undefined), found });
    return found;
  }

  return {
    async find(tree, branch) {
      const known = remembered.get(tree.directory);
      if (!known || clock.now() - known.askedAt >= REMEMBERED_MS) return askAnew(tree, branch);
      const [then, now] = await Promise.all([known.branch, branch.catch(() => undefined)]);
      return then === now ? known.found : askAnew(tree, branch);
    },
    close: () => closed.abort(),
  };
}
