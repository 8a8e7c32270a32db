/** Finds the work tree around a directory and runs git in it, without any program that the repository configures. */
import { join } from 'node:path';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { exceededMemory } from '#server/processes/memory-limit.ts';
import { runCommand } from '#server/processes/run-command.ts';
import type { CommandEnd } from '#server/processes/run-command.ts';
import { ownPrograms, type OwnPrograms, type ProgramRuntime } from '#server/project-files/own-programs.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { PROBE, gitEnvironment } from './environment.ts';

/** Time limit of all git processes of one request together. */
export const GIT_TIMEOUT_MS = 30_000;
/** Bytes that git and its child processes may allocate: git reads index, configuration and changed files whole. */
export const GIT_MAX_MEMORY = 2 * 1024 ** 3;
const STDERR_MAX_CHARS = 4000;
const FACTS_MAX_BYTES = 1024 * 1024;
/** A repository with more filters is refused: each needs variables of the environment. */
const MAX_FILTERS = 256;

export type GitRuntime = ProgramRuntime & Pick<Runtime, 'spawn'>;

export interface GitOptions {
  /** Receives the output in chunks. */
  onText(text: string): void;
  /** Output beyond it is truncated, and git is stopped. */
  maxOutputBytes: number;
  /** Written to git's standard input. */
  input?: string;
  /** Path of an index to use instead of the repository's. */
  index?: string | undefined;
}

export interface GitEnd extends CommandEnd {
  stderr: string;
}

export interface WorkTree {
  /** The directory that git runs in, as named. */
  directory: string;
  /** Path of the directory below the top of the work tree, with a slash at its end; empty at the top. */
  prefix: string;
  /** Opens the work tree that contains a directory below this one; both share one time limit. */
  enter(path: string): Promise<WorkTree>;
  /** The environment for other programs that work in the repository. */
  environment: NodeJS.ProcessEnv;
  /** Finds such a program. */
  findProgram: OwnPrograms['find'];
  /** Runs git in the directory. Throws `fs.git_unavailable` on a timeout, and the signal's reason. */
  run(args: readonly string[], options: GitOptions): Promise<GitEnd>;
  /** Like `run`, but throws `fs.git_unavailable` with git's message on failure. `cut`: the output was truncated. */
  read(args: readonly string[], options: GitOptions): Promise<{ cut: boolean }>;
}

export const gitUnavailable = (directory: string, why: string) =>
  new ServiceError('fs.git_unavailable', `git unavailable at ${directory}: ${why}`);

/** Returns git's message of a failure, without its `fatal: `. */
const reason = ({ stderr, exitCode }: GitEnd) => {
  if (exceededMemory(exitCode)) return `it needs more than ${GIT_MAX_MEMORY / 1024 ** 3} GiB of memory`;
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const failure = lines.find((line) => /^(fatal|error): /.test(line)) ?? lines[0];
  return failure?.replace(/^(fatal|error): /, '').trim() || `git ended with ${exitCode}`;
};

/** Extracts the filters' names from `git config -z --name-only --get-regexp`: a name may contain dots. */
const filterNames = (keys: readonly string[]) => [
  ...new Set(keys.flatMap((key) => /^filter\.([\s\S]+)\.[^.]+$/.exec(key)?.[1] ?? [])),
];

/**
 * Opens the work tree that contains a directory. Throws `fs.git_unavailable` where git is missing or too old, refuses
 * the repository, or finds no work tree, and the signal's reason.
 */
export async function openWorkTree(
  directory: string,
  {
    runtime,
    signal,
    timeoutMs = GIT_TIMEOUT_MS,
    programs: given,
  }: {
    runtime: GitRuntime;
    signal: AbortSignal;
    timeoutMs?: number | undefined;
    /** The programs found for the work tree around this one. */
    programs?: OwnPrograms;
  },
): Promise<WorkTree> {
  const programs = given ?? (await ownPrograms(directory, runtime));
  const git = await programs.find('git');
  if (git === undefined) throw gitUnavailable(directory, 'git is not installed');
  const until = performance.now() + timeoutMs;

  async function start(args: readonly string[], options: GitOptions, environment: NodeJS.ProcessEnv) {
    const { onText, maxOutputBytes, input, index } = options;
    signal.throwIfAborted();
    let stderr = '';
    const end = await runCommand(runtime.spawn, {
      file: git ?? '',
      args: ['--no-pager', ...args],
      cwd: directory,
      env: index === undefined ? environment : { ...environment, GIT_INDEX_FILE: index },
      ...(input === undefined ? {} : { input }),
      maxMemory: GIT_MAX_MEMORY,
      signal,
      timeoutMs: Math.max(0, until - performance.now()),
      maxOutputBytes,
      graceMs: () => 0,
      onText(stream, text) {
        if (stream === 'stdout') onText(text);
        else if (stderr.length < STDERR_MAX_CHARS) stderr += text.slice(0, STDERR_MAX_CHARS);
      },
    }).catch((error: unknown) => {
      throw gitUnavailable(directory, errorMessage(error));
    });
    if (end.stopped === 'aborted') throw signal.reason;
    if (end.stopped === 'timeout') throw gitUnavailable(directory, `it took more than ${timeoutMs / 1000} s`);
    return { ...end, stderr };
  }

  async function facts(args: readonly string[]): Promise<GitEnd & { text: string }> {
    let text = '';
    const end = await start(
      args,
      { onText: (piece) => void (text += piece), maxOutputBytes: FACTS_MAX_BYTES },
      gitEnvironment(programs.environment),
    );
    if (end.stopped) throw gitUnavailable(directory, 'its configuration is too large');
    return { ...end, text };
  }

  const [place, config] = await Promise.all([
    facts(['rev-parse', '--is-inside-work-tree', '--show-prefix']),
    facts(['config', '-z', '--name-only', '--get-regexp', `^(filter\\.|${PROBE.replace('.', '\\.')}$)`]),
  ]);
  if (place.exitCode !== 0) throw gitUnavailable(directory, reason(place));
  const [inside, prefix = ''] = place.text.split(/\n([\s\S]*)/);
  // Also where `core.worktree` points to another directory.
  if (inside !== 'true') throw gitUnavailable(directory, 'this is not in a work tree');
  if (config.exitCode !== 0) throw gitUnavailable(directory, reason(config));
  const keys = config.text.split('\0');
  if (!keys.includes(PROBE)) throw gitUnavailable(directory, 'git 2.31 or newer is needed');
  const filters = filterNames(keys);
  if (filters.length > MAX_FILTERS) throw gitUnavailable(directory, 'it configures too many filters');
  // A name that is not UTF-8 cannot be passed to git again.
  if (filters.some((name) => name.includes('\uFFFD')))
    throw gitUnavailable(directory, 'it has a filter with an unreadable name');
  const environment = gitEnvironment(programs.environment, filters);

  const run: WorkTree['run'] = (args, options) => start(args, options, environment);
  return {
    directory,
    prefix: prefix.replace(/\n$/, ''),
    environment,
    findProgram: programs.find,
    enter: (path) =>
      openWorkTree(join(directory, path), {
        runtime,
        signal,
        timeoutMs: Math.max(0, until - performance.now()),
        programs,
      }),
    run,
    async read(args, options) {
      const end = await run(args, options);
      if (end.stopped === 'output') return { cut: true };
      if (end.exitCode !== 0) throw gitUnavailable(directory, reason(end));
      return { cut: false };
    },
  };
}
