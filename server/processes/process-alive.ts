import { errorCode } from '#server/errors/errno.ts';

/** True if a process with that id runs, under any user. */
export function processAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
