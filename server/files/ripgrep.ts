/** Running ripgrep, bounded in time and output (engine.md §5.5). */
import { spawn } from 'node:child_process';
import { findOnPath, isExecutable } from '#server/processes/executables.ts';

export const SEARCH_TIMEOUT_MS = 20_000;
export const VCS_DIRECTORIES = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'];
const STDERR_MAX_CHARS = 4000;

/** Arguments every search shares. The exclusions come after the caller's own globs: in ripgrep the last match wins. */
export const commonArguments = (globs: readonly string[], includeIgnored: boolean): string[] => [
  '--no-config',
  '--no-messages',
  '--color=never',
  '--hidden',
  '--null',
  ...(includeIgnored ? ['--no-ignore'] : []),
  ...globs.flatMap((glob) => ['-g', glob]),
  ...VCS_DIRECTORIES.flatMap((name) => ['-g', `!${name}`]),
];

/** The binary of `@vscode/ripgrep`, else `rg` on PATH; undefined when there is neither. Nothing is downloaded. */
export async function findRipgrep(): Promise<string | undefined> {
  // Importing throws when no binary ships for this platform; PATH is the answer then.
  const shipped = await import('@vscode/ripgrep').then(
    (module) => module.rgPath,
    () => undefined,
  );
  if (shipped && (await isExecutable(shipped))) return shipped;
  return findOnPath(process.platform === 'win32' ? 'rg.exe' : 'rg');
}

export interface SearchRun {
  stdout: string;
  stderr: string;
  /** 0 found, 1 nothing found, 2 error (with partial output perhaps); null when killed. */
  exitCode: number | null;
  ended: 'exit' | 'timeout' | 'limit' | 'aborted';
}

export interface SearchRequest {
  /** The binary. */
  ripgrep: string;
  args: readonly string[];
  /** Directory that is searched; ripgrep's globs are relative to it. */
  cwd: string;
  signal: AbortSignal;
  /** Bytes of stdout after which the search stops with what it has. */
  maxBytes: number;
  timeoutMs?: number;
}

/** Rejects only when the process cannot be started. */
function runOnce(request: SearchRequest, args: readonly string[]): Promise<SearchRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(request.ripgrep, args, { cwd: request.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let stderr = '';
    let ended: SearchRun['ended'] = 'exit';

    const stop = (why: SearchRun['ended']) => {
      if (ended !== 'exit') return;
      ended = why;
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
    };
    child.stdout.on('data', (chunk: Buffer) => {
      if (bytes >= request.maxBytes) return;
      chunks.push(chunk.subarray(0, request.maxBytes - bytes));
      bytes += chunk.length;
      if (bytes >= request.maxBytes) stop('limit');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(0, STDERR_MAX_CHARS);
    });
    const timer = setTimeout(() => stop('timeout'), request.timeoutMs ?? SEARCH_TIMEOUT_MS);
    const onAbort = () => stop('aborted');
    request.signal.addEventListener('abort', onAbort, { once: true });
    const settle = () => {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', onAbort);
    };
    child.once('error', (error) => {
      settle();
      reject(error);
    });
    child.once('close', (exitCode) => {
      settle();
      resolve({ stdout: Buffer.concat(chunks).toString(), stderr, exitCode, ended });
    });
    if (request.signal.aborted) onAbort();
  });
}

/** Runs ripgrep; once more with a single thread when the system had none to give (EAGAIN). */
export async function runRipgrep(request: SearchRequest): Promise<SearchRun> {
  const result = await runOnce(request, request.args);
  const starved = result.exitCode === 2 && /os error 11\b|Resource temporarily unavailable/.test(result.stderr);
  return starved ? runOnce(request, ['--threads=1', ...request.args]) : result;
}
