/** Signals to a whole process group: a command's children go with it. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '#server/files/errno.ts';

const MIN_POLL_MS = 10;
const MAX_POLL_MS = 160;

/** Sends a signal to the group; false when it has no members left. Signal 0 only asks. */
export function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (error) {
    // EPERM: members exist but belong to somebody else.
    return errorCode(error) === 'EPERM';
  }
}

/** State and process group from `/proc/<pid>/stat`, whose second field may hold anything but a last `)`. */
function isLiveMember(stat: string, groupId: number): boolean {
  const [state = '', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group) === groupId && state !== 'Z' && state !== 'X';
}

/**
 * Whether a member still runs. Dead ones that nobody has collected keep the group in existence, for good where process
 * 1 of a container collects nothing; on Linux they are told apart.
 */
export async function groupRuns(groupId: number): Promise<boolean> {
  if (!signalGroup(groupId, 0)) return false;
  if (process.platform !== 'linux') return true;
  const entries = await readdir('/proc').catch(() => undefined);
  if (!entries) return true;
  const pids = entries.filter((name) => /^\d+$/.test(name));
  // A process that ends meanwhile has no file any more.
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  return stats.some((stat) => isLiveMember(stat, groupId));
}

/** Settles when no member runs any more, or when `deadline` (a time of `performance.now()`, asked again) has passed. */
export async function groupGone(groupId: number, deadline: () => number): Promise<void> {
  for (let wait = MIN_POLL_MS; await groupRuns(groupId); wait = Math.min(wait * 2, MAX_POLL_MS)) {
    const left = deadline() - performance.now();
    if (left <= 0) return;
    await delay(Math.min(wait, left));
  }
}

/** Groups that must not outlive this process. One listener for all: the process itself is global. */
const mortal = new Set<number>();
const killAll = () => {
  for (const groupId of mortal) signalGroup(groupId, 'SIGKILL');
};

/** Kills the group when this process exits before the returned function is called. */
export function killAtExit(groupId: number): () => void {
  if (mortal.size === 0) process.on('exit', killAll);
  mortal.add(groupId);
  return () => {
    mortal.delete(groupId);
    if (mortal.size === 0) process.off('exit', killAll);
  };
}
