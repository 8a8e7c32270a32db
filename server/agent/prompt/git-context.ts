/**
 * Where a repository stands, for the task of an agent that looks around. Read from its files alone: git runs what a
 * repository's own configuration names, and a project may be hostile.
 */
import { join } from 'node:path';
import { cutText } from '#server/bounded-text.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

const RECENT = 5;
const LINE_CHARS = 200;
/** Of a reflog; a longer one is left out. */
const MAX_LOG_BYTES = 1024 * 1024;

/** Where an agent gets its task. */
export interface TaskPlace {
  runtime: Pick<Runtime, 'readFile' | 'realpath'>;
  repositoryOf: Projects['repositoryOf'];
  cwd: string;
}

/** Branch, commit and what was done last; empty outside a repository, and when its files cannot be read. */
export async function gitContext({ runtime, repositoryOf, cwd }: TaskPlace): Promise<string> {
  try {
    const repository = await repositoryOf(await runtime.realpath(cwd));
    if (!repository) return '';
    for (const directory of repository.controlPaths) {
      const head = await textOf(join(directory, 'HEAD'), runtime);
      if (head === undefined) continue;
      const facts = [`top: ${repository.top}`, ...headLine(head), ...(await recent(directory, runtime))];
      return `<git-context>\n${facts.map(shownLine).join('\n')}\n</git-context>`;
    }
    return '';
  } catch {
    // An unreadable repository is none for this purpose: the task can do without.
    return '';
  }
}

/** Anything else in its place, such as a link to a secret, is not shown. */
function headLine(head: string): string[] {
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head.trim())?.[1];
  if (branch !== undefined) return [`branch: ${branch}`];
  return /^[0-9a-f]{40,64}$/.test(head.trim()) ? [`detached at: ${head.trim()}`] : [];
}

/** The newest entries of the reflog, newest first. */
async function recent(directory: string, runtime: TaskPlace['runtime']): Promise<string[]> {
  const log = await textOf(join(directory, 'logs', 'HEAD'), runtime);
  const lines = log?.trimEnd().split('\n').slice(-RECENT).toReversed() ?? [];
  return lines.flatMap((line) => {
    const [, commit, done] = /^[0-9a-f]+ ([0-9a-f]{7})[0-9a-f]* .*?\t(.*)$/.exec(line) ?? [];
    return commit === undefined ? [] : [`recent: ${commit} ${done}`];
  });
}

/** A line of its own that closes no tag. */
const shownLine = (line: string) => cutText(line.replace(/[\p{Cc}\p{Cf}<>]/gu, ' '), LINE_CHARS);

/** Undefined for a file that cannot be read or is longer than the bound. */
async function textOf(path: string, { readFile }: Pick<Runtime, 'readFile'>): Promise<string | undefined> {
  const bytes = await readFile(path, { maxBytes: MAX_LOG_BYTES }).catch(() => undefined);
  return bytes && Buffer.from(bytes).toString('utf8');
}
