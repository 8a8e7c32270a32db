/** The end of what runs on a terminal. */
import { readFile } from 'node:fs/promises';
import { groupGone, groupRuns, signalGroup } from '#server/processes/process-group.ts';

const HANG_UP_MS = 2000;
/** After SIGKILL only the kernel can hold a process back; it is not waited for longer. */
const KILLED_WAIT_MS = 1000;

/** Place of the terminal's foreground group in `/proc/<pid>/stat`, behind the command name. */
const FOREGROUND_FIELD = 5;

/** The group that has the keyboard; the shell's jobs have groups of their own. Undefined where nobody tells. */
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
 * Ends the group of a shell and that of its foreground job: SIGHUP, SIGKILL two seconds later. Jobs in the background
 * get the shell's own hang-up, so what was meant to outlive it does. Settles when none of the two groups runs any more.
 */
export async function hangUp(pid: number): Promise<void> {
  const groups = new Set([pid, (await foregroundGroup(pid)) ?? pid]);
  await Promise.all([...groups].map(end));
}
