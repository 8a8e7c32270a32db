/** Signals to a whole process group (engine.md §5.4, §12): a command's children go with it. */
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;
/** After SIGKILL only the kernel can hold a process back; it is not waited for longer. */
const KILLED_WAIT_MS = 1000;

/** Sends a signal to the group; false when it has no members left. Signal 0 only asks. */
export function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (error) {
    // EPERM: members exist but belong to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function goneWithin(groupId: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (signalGroup(groupId, 0)) {
    if (performance.now() >= deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/** SIGTERM, after the grace time SIGKILL; settles when no member is left. */
export async function terminateGroup(groupId: number, graceMs: number): Promise<void> {
  if (!signalGroup(groupId, 'SIGTERM') || (await goneWithin(groupId, graceMs))) return;
  signalGroup(groupId, 'SIGKILL');
  await goneWithin(groupId, KILLED_WAIT_MS);
}
