/**
 * A limit of the memory that a program may allocate. Linux and the BSDs enforce it through `ulimit -d`, which counts
 * allocated memory but no mapped files: packs and large files are mapped. macOS ignores it, so there the resident memory
 * of the process group is polled. Windows has no limit.
 */
import { execFile } from 'node:child_process';
import { constants } from 'node:os';
import { promisify } from 'node:util';

const POLL_MS = 500;
const run = promisify(execFile);

/** Exit codes of programs that the limit ends: most abort when an allocation fails, the poll kills with SIGKILL. */
const CODES = new Set([128 + constants.signals.SIGABRT, 128 + constants.signals.SIGKILL]);

/** Whether a limited program that nobody stopped was ended by its limit, or by the system's lack of memory. */
export const exceededMemory = (exitCode: number): boolean => CODES.has(exitCode);

export interface Program {
  file: string;
  args: readonly string[];
}

/** The command line that starts the program with a limit of `maxBytes`; it keeps the process id. */
export function withMemoryLimit({ file, args }: Program, maxBytes: number, platform: NodeJS.Platform): Program {
  if (platform === 'win32') return { file, args };
  // An aborted program would write a core file into the project. A limit of the user's that is lower stays.
  const limits = ['ulimit -c 0', ...(platform === 'darwin' ? [] : [`ulimit -d ${Math.floor(maxBytes / 1024)}`])];
  const script = `${limits.map((limit) => `${limit} 2>/dev/null; `).join('')}exec "$0" "$@"`;
  return { file: '/bin/sh', args: ['-c', script, file, ...args] };
}

/** Bytes of memory that the processes of a group occupy together; 0 when they have exited. */
async function residentBytes(groupId: number): Promise<number> {
  const { stdout } = await run('/bin/ps', ['-o', 'rss=', '-g', String(groupId)]).catch(() => ({ stdout: '' }));
  return stdout.split('\n').reduce((sum, line) => sum + Number(line) * 1024, 0);
}

/** Polls the memory of a process group where `ulimit` is ignored, and calls `onExceeded` above the limit. Returns the end. */
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
