import { errorCode } from '#server/files/errno.ts';

/** Whether a process of that id runs, whoever owns it. */
export function processAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
