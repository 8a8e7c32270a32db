/**
 * Git's configuration as git itself reads it, and the paths in it. `git config` starts no program of the repository.
 */
import { basename, dirname, join, resolve } from 'node:path';
import { runCommand } from '#server/processes/run-command.ts';
import { ownPrograms } from '#server/project-files/own-programs.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { gitEnvironment } from './environment.ts';
import { GIT_MAX_MEMORY } from './work-tree.ts';

export interface ConfigurationEntry {
  /** Section and name in lower case; the subsection between them as written. */
  key: string;
  value: string;
  /** Absolute path of the file that contains it; undefined for an entry of the environment. */
  origin: string | undefined;
}

export type ConfigurationRuntime = Pick<
  Runtime,
  'environment' | 'homeDirectory' | 'list' | 'lstat' | 'readFile' | 'realpath' | 'spawn' | 'stat' | 'which'
>;

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/** Parses the output of `git config --list --show-origin -z`: origin, NUL, key, line feed and value, NUL. */
function parseEntries(text: string, directory: string): ConfigurationEntry[] {
  const fields = text.split('\0');
  return fields.flatMap((origin, index) => {
    const [, key, value = ''] = /^([^\n]*)(?:\n([\s\S]*))?$/.exec(fields[index + 1] ?? '') ?? [];
    if (index % 2 === 1 || !key || !origin.startsWith('file:')) return [];
    return [{ key, value, origin: resolve(directory, origin.slice('file:'.length)) }];
  });
}

interface GitRequest {
  args: readonly string[];
  maxOutputBytes: number;
  /** Receives the standard output. */
  onText(text: string): void;
}

/**
 * Runs a git subcommand that only reads configuration or index, which starts no program. Returns whether it succeeded;
 * undefined where git is not installed.
 */
export async function readWithGit(
  directory: string,
  runtime: ConfigurationRuntime,
  { args, maxOutputBytes, onText }: GitRequest,
): Promise<boolean | undefined> {
  const programs = await ownPrograms(directory, runtime);
  const git = await programs.find('git');
  if (git === undefined) return undefined;
  const end = await runCommand(runtime.spawn, {
    file: git,
    // The user may have exempted a directory of another owner in a variable that this git does not receive.
    args: ['-c', 'safe.directory=*', '--no-pager', ...args],
    cwd: directory,
    env: gitEnvironment(programs.environment),
    signal: new AbortController().signal,
    maxMemory: GIT_MAX_MEMORY,
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes,
    graceMs: () => 0,
    onText: (stream, text) => void (stream === 'stdout' && onText(text)),
  }).catch(() => undefined);
  return end?.exitCode === 0 && !end.stopped;
}

/**
 * Returns the entries that git reads in a directory, including those of included files; with `file`, only the entries
 * of that file. Undefined when git cannot read them; an empty list where git is not installed.
 */
export async function readEntries(
  directory: string,
  runtime: ConfigurationRuntime,
  file?: string,
): Promise<ConfigurationEntry[] | undefined> {
  const chunks: string[] = [];
  const done = await readWithGit(directory, runtime, {
    args: ['config', '--list', '--show-origin', '-z', ...(file === undefined ? [] : ['--file', file])],
    maxOutputBytes: MAX_BYTES,
    onText: (text) => void chunks.push(text),
  });
  if (done === undefined) return [];
  return done ? parseEntries(chunks.join(''), directory) : undefined;
}

/** Environment variables that act as settings of git. */
const VARIABLES = { GIT_EXTERNAL_DIFF: 'diff.external', GIT_PAGER: 'core.pager', PAGER: 'core.pager' };

/** Returns the settings that commands inherit from their environment. */
export function environmentEntries(environment: NodeJS.ProcessEnv): ConfigurationEntry[] {
  const count = Math.min(Number(environment.GIT_CONFIG_COUNT) || 0, Object.keys(environment).length);
  const listed = Array.from({ length: count }, (_, index) => ({
    key: environment[`GIT_CONFIG_KEY_${index}`]?.toLowerCase() ?? '',
    value: environment[`GIT_CONFIG_VALUE_${index}`] ?? '',
    origin: undefined,
  }));
  const others = Object.entries(VARIABLES).map(([name, key]) => ({
    key,
    value: environment[name] ?? '',
    origin: undefined,
  }));
  return [...listed, ...others];
}

/** Returns the configuration files that git reads in addition to those of the repository, present or not. */
export function userFiles({ environment, homeDirectory }: ConfigurationRuntime): string[] {
  const variables = environment();
  const home = variables.HOME ?? homeDirectory();
  const named = [variables.GIT_CONFIG_GLOBAL, variables.GIT_CONFIG_SYSTEM].filter((path) => path !== undefined);
  return [
    join(home, '.gitconfig'),
    join(variables.XDG_CONFIG_HOME || join(home, '.config'), 'git', 'config'),
    '/etc/gitconfig',
    ...named.map((path) => resolve('/', path)),
  ];
}

/**
 * Expands a path in a value as git does. Homes of other users are assumed to be siblings of the user's home. `base` is
 * the directory that relative paths are resolved against.
 */
export function expandPath(value: string, base: string, home: string): string {
  const path = value.replace(/^:\(optional\)/, '');
  const [, user, rest = ''] = /^~([^/]*)(\/.*)?$/s.exec(path) ?? [];
  if (user === undefined) return resolve(base, path);
  return join(user === '' || user === basename(home) ? home : join(dirname(home), user), rest);
}
