/**
 * Memory limit of a child program. Linux and the BSDs enforce it with `ulimit -d`, which counts allocated memory but
 * not mapped files, and packs and large files are mapped. macOS ignores it, so there the resident memory of the process
 * group is polled. Windows has no limit.
 */
import { execFile } from 'node:child_process';
import { constants } from 'node:os';
import { promisify } from 'node:util';

const POLL_MS = 500;
const run = promisify(execFile);

/** Exit codes after exceeding the limit: most programs abort on a failed allocation, the poll sends SIGKILL. */
const CODES = new Set([128 + constants.signals.SIGABRT, 128 + constants.signals.SIGKILL]);

/** True if a limited program, not stopped by a caller, exceeded its limit or the system ran out of memory. */
export const exceededMemory = (exitCode: number): boolean => CODES.has(exitCode);

export interface Program {
  file: string;
  args: readonly string[];
}

/** Command line that starts the program with a limit of `maxBytes`; the process id stays the same. */
export function withMemoryLimit({ file, args }: Program, maxBytes: number, platform: NodeJS.Platform): Program {
  if (platform === 'win32') return { file, args };
  // An aborted program would write a core file into the project. A lower limit of the user is not raised.
  const limits = ['ulimit -c 0', ...(platform === 'darwin' ? [] : [`ulimit -d ${Math.floor(maxBytes / 1024)}`])];
  const script = `${limits.map((limit) => `${limit} 2>/dev/null; `).join('')}exec "$0" "$@"`;
  return { file: '/bin/sh', args: ['-c', script, file, ...args] };
}

/** Resident memory of a process group in bytes; 0 after it has exited. */
async function residentBytes(groupId: number): Promise<number> {
  const { stdout } = await run('/bin/ps', ['-o', 'rss=', '-g', String(groupId)]).catch(() => ({ stdout: '' }));
  return stdout.split('\n').reduce((sum, line) => sum + Number(line) * 1024, 0);
}

/** Where `ulimit` is ignored, polls a process group's memory and calls `onExceeded` above the limit. Returns a stop. */
export function watchMemory(
  groupId: number,
  { maxBytes, platform, onExceeded }: { maxBytes: number; platform: NodeJS.Platform; onExceeded(): void },
): () => void {
  if (platform !== 'darwin') return () => undefined;
  let polling = false;
  const timer = setInterval(() => {
    if (polling) return;
    polling = true;
    void residentBytes(groupId).then((bytes) => {
      polling = false;
      if (bytes > maxBytes) onExceeded();
    });
  }, POLL_MS);
  return () => clearInterval(timer);
}
