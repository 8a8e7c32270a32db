/** Processes of commands that were lost with their server: they may still run, but are no tasks of this process. */
import { groupGone, signalGroup } from '#server/processes/process-group.ts';
import { stillRuns, type ProcessIdentity } from '#server/processes/process-identity.ts';

/** Longest wait after SIGKILL, when only the kernel can delay the exit. */
const KILLED_WAIT_MS = 1000;

/**
 * Ends the process group of a lost command: SIGTERM, then SIGKILL after the grace time. Returns whether it still ran; a
 * later process with the same pid is not signalled.
 */
export async function endLostProcess(process: ProcessIdentity, graceMs: number): Promise<boolean> {
  if (!(await stillRuns(process)) || !signalGroup(process.pid, 'SIGTERM')) return false;
  const killAt = performance.now() + graceMs;
  await groupGone(process.pid, () => killAt);
  if (signalGroup(process.pid, 'SIGKILL')) await groupGone(process.pid, () => killAt + KILLED_WAIT_MS);
  return true;
}
