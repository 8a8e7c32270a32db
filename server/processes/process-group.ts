/** Signals whole process groups, so that a command's children are included. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '#server/errors/errno.ts';

const MIN_POLL_MS = 10;
const MAX_POLL_MS = 160;

/** Sends a signal to the group; false if it has no members. Signal 0 only checks. */
export function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (error) {
    // EPERM: members exist but belong to another user.
    return errorCode(error) === 'EPERM';
  }
}

/** Parses `/proc/<pid>/stat`. Its second field, the name, may contain any characters, but the last `)` is its end. */
function isLiveMember(stat: string, groupId: number): boolean {
  const [state = '', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group) === groupId && state !== 'Z' && state !== 'X';
}

/**
 * True if a member runs. Zombies keep the group in existence, permanently if process 1 of a container does not reap
 * them; on Linux they are ignored.
 */
export async function groupRuns(groupId: number): Promise<boolean> {
  if (!signalGroup(groupId, 0)) return false;
  if (process.platform !== 'linux') return true;
  const entries = await readdir('/proc').catch(() => undefined);
  if (!entries) return true;
  const pids = entries.filter((name) => /^\d+$/.test(name));
  // A process that exits meanwhile has no file any more.
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  return stats.some((stat) => isLiveMember(stat, groupId));
}

/** Resolves when no member runs or `deadline` (in `performance.now()` time, evaluated at each poll) has passed. */
export async function groupGone(groupId: number, deadline: () => number): Promise<void> {
  for (let wait = MIN_POLL_MS; await groupRuns(groupId); wait = Math.min(wait * 2, MAX_POLL_MS)) {
    const left = deadline() - performance.now();
    if (left <= 0) return;
    await delay(Math.min(wait, left));
  }
}

/** Groups to kill when this process exits. Module state with one listener, because the process is global. */
const mortal = new Set<number>();
const killAll = () => {
  for (const groupId of mortal) signalGroup(groupId, 'SIGKILL');
};

/** Kills the group if this process exits before the returned function is called. */
export function killAtExit(groupId: number): () => void {
  if (mortal.size === 0) process.on('exit', killAll);
  mortal.add(groupId);
  return () => {
    mortal.delete(groupId);
    if (mortal.size === 0) process.off('exit', killAll);
  };
}
