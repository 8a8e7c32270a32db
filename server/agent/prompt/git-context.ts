/**
 * State of a repository, for the task of an exploring agent. Only files are read: git executes programs that a
 * repository's configuration names, and a project may be hostile.
 */
import { join } from 'node:path';
import { cutText } from '#server/text/truncate.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

const RECENT = 5;
const LINE_CHARS = 200;
/** Size limit of a reflog; a longer one is omitted. */
const MAX_LOG_BYTES = 1024 * 1024;

/** The directory of a task, and the services to read its repository. */
export interface TaskContext {
  runtime: Pick<Runtime, 'readFile' | 'realpath'>;
  repositoryOf: Projects['repositoryOf'];
  cwd: string;
}

/** Branch, commit and latest reflog entries; empty outside a repository, or if its files cannot be read. */
export async function gitContext({ runtime, repositoryOf, cwd }: TaskContext): Promise<string> {
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
    // An unreadable repository is treated as none: the task does not depend on it.
    return '';
  }
}

/** Any other content, such as that of a linked secret, is omitted. */
function headLine(head: string): string[] {
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head.trim())?.[1];
  if (branch !== undefined) return [`branch: ${branch}`];
  return /^[0-9a-f]{40,64}$/.test(head.trim()) ? [`detached at: ${head.trim()}`] : [];
}

/** The newest entries of the reflog, newest first. */
async function recent(directory: string, runtime: TaskContext['runtime']): Promise<string[]> {
  const log = await textOf(join(directory, 'logs', 'HEAD'), runtime);
  const lines = log?.trimEnd().split('\n').slice(-RECENT).toReversed() ?? [];
  return lines.flatMap((line) => {
    const [, commit, done] = /^[0-9a-f]+ ([0-9a-f]{7})[0-9a-f]* .*?\t(.*)$/.exec(line) ?? [];
    return commit === undefined ? [] : [`recent: ${commit} ${done}`];
  });
}

/** One line without control characters and angle brackets, so that it cannot close a tag. */
const shownLine = (line: string) => cutText(line.replace(/[\p{Cc}\p{Cf}<>]/gu, ' '), LINE_CHARS);

/** Returns undefined for a file that cannot be read or exceeds the limit. */
async function textOf(path: string, { readFile }: Pick<Runtime, 'readFile'>): Promise<string | undefined> {
  const bytes = await readFile(path, { maxBytes: MAX_LOG_BYTES }).catch(() => undefined);
  return bytes && Buffer.from(bytes).toString('utf8');
}
