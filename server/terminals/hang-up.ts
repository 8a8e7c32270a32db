/** Ends the processes of a terminal. */
import { readFile } from 'node:fs/promises';
import { groupGone, groupRuns, signalGroup } from '#server/processes/process-group.ts';

const HANG_UP_MS = 2000;
/** After SIGKILL only the kernel can delay a process's exit; waiting longer is pointless. */
const KILLED_WAIT_MS = 1000;

/** Index of the terminal's foreground group in `/proc/<pid>/stat`, after the command name. */
const FOREGROUND_FIELD = 5;

/** Returns the foreground process group; the shell's jobs have separate groups. Undefined without `/proc`. */
async function foregroundGroup(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const group = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[FOREGROUND_FIELD]);
  return group > 1 ? group : undefined;
}

async function end(group: number): Promise<void> {
  if (!signalGroup(group, 'SIGHUP')) return;
  const killAt = performance.now() + HANG_UP_MS;
  await groupGone(group, () => killAt);
  if (!(await groupRuns(group))) return;
  signalGroup(group, 'SIGKILL');
  await groupGone(group, () => killAt + KILLED_WAIT_MS);
}

/**
 * Ends the group of a shell and that of its foreground job: SIGHUP, SIGKILL two seconds later. The shell itself hangs
 * up its background jobs, so those meant to outlive it do. Settles when neither group runs any more.
 */
export async function hangUp(pid: number): Promise<void> {
  const groups = new Set([pid, (await foregroundGroup(pid)) ?? pid]);
  await Promise.all([...groups].map(end));
}
