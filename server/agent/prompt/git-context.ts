/**
 * Where a repository stands, for the task of an agent that looks around. Read from its files alone: git runs what a
 * repository's own configuration names, and a project may be hostile.
 */
import { join } from 'node:path';
import { cutText } from '#server/bounded-text.ts';
import { createRepositoryFinder } from '#server/files/repository.ts';
import type { OpenFile, Runtime } from '#server/runtime/runtime.ts';

const RECENT = 5;
const LINE_CHARS = 200;
/** A reflog grows for ever; its end is enough. */
const MAX_LOG_BYTES = 1024 * 1024;

/** Branch, commit and what was done last; empty outside a repository, and when its files cannot be read. */
export async function gitContext({ runtime, cwd }: { runtime: Runtime; cwd: string }): Promise<string> {
  try {
    const repository = await createRepositoryFinder()(await runtime.realpath(cwd), runtime);
    if (!repository) return '';
    for (const directory of repository.controlPaths) {
      const head = await firstBytes(join(directory, 'HEAD'), runtime);
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
async function recent(directory: string, runtime: Runtime): Promise<string[]> {
  const log = await firstBytes(join(directory, 'logs', 'HEAD'), runtime);
  const lines = log?.trimEnd().split('\n').slice(-RECENT).toReversed() ?? [];
  return lines.flatMap((line) => {
    const [, commit, done] = /^[0-9a-f]+ ([0-9a-f]{7})[0-9a-f]* .*?\t(.*)$/.exec(line) ?? [];
    return commit === undefined ? [] : [`recent: ${commit} ${done}`];
  });
}

/** A line of its own that closes no tag. */
const shownLine = (line: string) => cutText(line.replace(/[\p{Cc}\p{Cf}<>]/gu, ' '), LINE_CHARS);

async function firstBytes(path: string, runtime: Runtime): Promise<string | undefined> {
  let file: OpenFile | undefined;
  try {
    file = await runtime.openFile(path);
    if (!file.stats.isFile() || file.stats.size > MAX_LOG_BYTES) return undefined;
    const pieces: Uint8Array[] = [];
    for (let left = MAX_LOG_BYTES; left > 0;) {
      const piece = await file.read(left);
      if (piece.length === 0) break;
      pieces.push(piece);
      left -= piece.length;
    }
    return Buffer.concat(pieces).toString('utf8');
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
