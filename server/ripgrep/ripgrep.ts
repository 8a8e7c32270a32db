/** Runs ripgrep with limits for time, memory and output. */
import { errorMessage } from '#server/errors/service-error.ts';
import { exceededMemory } from '#server/processes/memory-limit.ts';
import { runCommand } from '#server/processes/run-command.ts';
import type { StopReason } from '#server/processes/run-command.ts';
import { ownPrograms, type OwnPrograms, type ProgramRuntime } from '#server/project-files/own-programs.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

export const SEARCH_TIMEOUT_MS = 20_000;
/** Memory limit in bytes: ripgrep reads ignore files whole, and a project may contain an endless one. */
export const SEARCH_MAX_MEMORY = 1024 ** 3;
export const OUT_OF_MEMORY = `The search needed more than ${SEARCH_MAX_MEMORY / 1024 ** 3} GiB of memory and was stopped.`;
export const VCS_DIRECTORIES = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'];
const STDERR_MAX_CHARS = 4000;

export interface SearchOptions {
  /** Locates the ripgrep binary; called for every search. */
  ripgrep?: (programs: OwnPrograms, runtime: Pick<Runtime, 'which'>) => Promise<string | undefined>;
  timeoutMs?: number;
}

/** Arguments of every search. The exclusions follow the caller's globs because in ripgrep the last match wins. */
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

/** The binary of `@vscode/ripgrep`, or else `rg` on PATH; undefined if both are missing. Downloads no binary. */
export async function findRipgrep(
  programs: OwnPrograms,
  { which }: Pick<Runtime, 'which'>,
): Promise<string | undefined> {
  // The import throws if the package has no binary for this platform; PATH is searched then.
  const shipped = await import('@vscode/ripgrep').then(
    (module) => module.rgPath,
    () => undefined,
  );
  const found = shipped && (await which(shipped));
  return found || programs.find('rg');
}

/** Reason why a search failed, worded for the model. */
export class SearchError extends Error {
  override readonly name = 'SearchError';
}

export type SearchRuntime = ProgramRuntime & Pick<Runtime, 'spawn'>;

export interface SearchRequest {
  runtime: SearchRuntime;
  args: readonly string[];
  /** Directory to search; ripgrep's globs are relative to it. */
  cwd: string;
  /** Workspace directory, in which no ripgrep binary is accepted; default: `cwd`. */
  workspace?: string;
  signal: AbortSignal;
  /** Output limit in bytes; the search stops there and returns the records so far. */
  maxBytes: number;
  /** Terminator of an output record. */
  separator: '\0' | '\n';
  /** Filters records while the search runs, so that filtering them all later does not block the event loop. */
  keep?(record: string): boolean;
}

export interface SearchRun {
  /** Complete records only; the last one of a stopped search may be cut off and is omitted. */
  records: string[];
  /** Undefined if the search completed. */
  stopped: Exclude<StopReason, 'aborted'> | 'memory' | undefined;
}

interface Output {
  records: string[];
  /** True if ripgrep printed anything. */
  printed: boolean;
  stderr: string;
  exitCode: number;
  stopped: StopReason | undefined;
}

async function runOnce(
  { file, env }: { file: string; env: NodeJS.ProcessEnv },
  args: readonly string[],
  request: SearchRequest,
  timeoutMs: number,
) {
  const { runtime, cwd, signal, maxBytes, separator, keep = () => true } = request;
  const output: Output = { records: [], printed: false, stderr: '', exitCode: 0, stopped: undefined };
  let rest = '';
  const receive = (text: string) => {
    output.printed = true;
    let start = 0;
    for (let end = text.indexOf(separator); end !== -1; end = text.indexOf(separator, start)) {
      const record = rest + text.slice(start, end);
      rest = '';
      if (keep(record)) output.records.push(record);
      start = end + 1;
    }
    rest += text.slice(start);
  };
  const end = await runCommand(runtime.spawn, {
    file,
    args,
    cwd,
    env,
    maxMemory: SEARCH_MAX_MEMORY,
    signal,
    timeoutMs,
    maxOutputBytes: maxBytes,
    graceMs: () => 0,
    onText(stream, text) {
      if (stream === 'stdout') receive(text);
      else if (output.stderr.length < STDERR_MAX_CHARS) output.stderr += text.slice(0, STDERR_MAX_CHARS);
    },
  });
  return { ...output, ...end };
}

/** Exit codes of the shell that applies the limits, if it cannot start ripgrep. */
export const NOT_STARTED: ReadonlySet<number> = new Set([126, 127]);

/** True if ripgrep could not start its threads (EAGAIN); with a single thread it can. */
export const isStarved = ({ exitCode, stderr }: { exitCode: number; stderr: string }): boolean =>
  exitCode === 2 && /os error 11\b|Resource temporarily unavailable/.test(stderr);

/**
 * Runs a search; retries with a single thread if the system has no more threads (EAGAIN). Throws `SearchError` if
 * ripgrep is missing, does not start or fails, and if time, memory or the caller stops it without a result.
 */
export async function runRipgrep(request: SearchRequest, options: SearchOptions = {}): Promise<SearchRun> {
  const { ripgrep = findRipgrep, timeoutMs = SEARCH_TIMEOUT_MS } = options;
  const { runtime, cwd, workspace = cwd } = request;
  const programs = await ownPrograms(workspace, runtime);
  const file = await ripgrep(programs, runtime);
  if (!file) throw new SearchError('ripgrep (rg) is not installed.');
  const program = { file, env: programs.environment };
  let found: Output;
  try {
    found = await runOnce(program, request.args, request, timeoutMs);
    if (isStarved(found)) found = await runOnce(program, ['--threads=1', ...request.args], request, timeoutMs);
  } catch (error) {
    throw new SearchError(`ripgrep could not be started: ${errorMessage(error)}`, { cause: error });
  }
  const { records, printed, stderr, exitCode, stopped } = found;
  if (stopped === 'aborted') throw new SearchError('Interrupted by user');
  if (stopped === 'timeout' && !printed) {
    throw new SearchError(`The search found nothing in ${timeoutMs / 1000} s and was stopped.`);
  }
  if (NOT_STARTED.has(exitCode)) throw new SearchError(`ripgrep could not be started: ${stderr.trim()}`);
  if (exitCode === 2 && !printed && stderr) throw new SearchError(stderr.trim());
  if (stopped === undefined && exceededMemory(exitCode)) {
    if (!printed) throw new SearchError(OUT_OF_MEMORY);
    return { records, stopped: 'memory' };
  }
  return { records, stopped };
}

/** Strips ripgrep's `./` prefix. */
export const stripDot = (path: string) => path.replace(/^\.[/\\]/, '');
