/** Search with ripgrep, whose output is parsed incrementally. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError, invalidField } from '#server/errors/service-error.ts';
import { isStarved, NOT_STARTED, OUT_OF_MEMORY, SEARCH_MAX_MEMORY, stripDot } from '#server/ripgrep/ripgrep.ts';
import { exceededMemory } from '#server/processes/memory-limit.ts';
import type { Spawn } from '#server/processes/spawn.ts';
import { createRecordReader } from './records.ts';
import type { FarMatch } from './far-columns.ts';
import { lineOf, parseRecord, textOf } from './ripgrep-lines.ts';
import { TimedOut, type Search } from './search.ts';
import { GIT_DIRECTORY, commonGlobs } from './selection.ts';

const STDERR_MAX_CHARS = 4000;

export interface RipgrepResult {
  /** Undefined when the search was stopped early. */
  scanned: number | undefined;
  far: FarMatch[];
}

/** ripgrep cannot be used on this host: it does not start, or is too old. */
export class RipgrepUnusable extends Error {
  override readonly name = 'RipgrepUnusable';
}

/** Arguments common to all attempts; `includes` is an ignore file that excludes all files except the requested ones. */
function argumentsOf({ request, selection }: Search, inRepository: boolean, includes: string | undefined): string[] {
  const { pattern, regex, case_sensitive, max_matches_per_file, context_lines, follow_gitignore, exclude_globs } =
    request;
  const ignoring = inRepository ? [] : ['--no-require-git', '--no-ignore-parent'];
  return [
    '--no-config',
    '--no-messages',
    '--json',
    // ripgrep would show hidden files that an ignore file re-includes, so `--hidden` leaves the decision to our globs.
    '--hidden',
    ...(selection.namesHidden ? [] : ['--glob=!.*']),
    ...commonGlobs(exclude_globs).map((glob) => `--glob=!${glob}`),
    `--glob=!${GIT_DIRECTORY}`,
    ...(follow_gitignore ? ignoring : ['--no-ignore']),
    ...(includes === undefined ? [] : [`--ignore-file=${includes}`]),
    case_sensitive ? '--case-sensitive' : '--ignore-case',
    ...(regex ? ['--crlf'] : ['--fixed-strings']),
    `--context=${context_lines}`,
    // One match above the limit shows that there are more.
    `--max-count=${max_matches_per_file + 1}`,
    `--regexp=${pattern}`,
    './',
  ];
}

/** Writes the globs to an ignore file: unlike `--glob`, it cannot re-include files that other ignore files exclude. */
async function withIncludes<Result>(
  globs: readonly string[] = [],
  work: (file: string | undefined) => Promise<Result>,
): Promise<Result> {
  if (globs.length === 0 || commonGlobs(globs).length < globs.length) return work(undefined);
  const directory = await mkdtemp(join(tmpdir(), 'service-code-grep-'));
  try {
    const file = join(directory, 'includes');
    await writeFile(file, ['*', '!*/', ...globs.map((glob) => `!${glob}`), ''].join('\n'));
    return await work(file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const refusesPattern = (stderr: string) =>
  !/unrecognized|unexpected argument|invalid (value|option)|requires an argument/i.test(stderr);

/**
 * Throws `validation.failed` for an invalid regular expression, `internal.error` when ripgrep reached its memory limit,
 * `TimedOut`, `RipgrepUnusable`, and the signal's reason. ripgrep has exited when the promise settles.
 */
export async function searchWithRipgrep(
  search: Search,
  { binary, env, spawn, inRepository }: { binary: string; env: NodeJS.ProcessEnv; spawn: Spawn; inRepository: boolean },
): Promise<RipgrepResult> {
  const { root, selection, collector, signal, until } = search;

  async function attempt(args: readonly string[]) {
    const far: FarMatch[] = [];
    let path: string | undefined;
    let scanned: number | undefined;
    let stderr = '';
    let failure: unknown;
    let stop = () => {};
    const reader = createRecordReader((bytes) => {
      if (collector.full || failure !== undefined) return;
      const record = parseRecord(bytes);
      switch (record.type) {
        case 'begin': {
          const found = stripDot(textOf(record.data.path)).replaceAll('\\', process.platform === 'win32' ? '/' : '\\');
          path = selection.includes(found) ? found : undefined;
          if (path !== undefined) collector.begin(path);
          break;
        }
        case 'match':
        case 'context': {
          if (path === undefined) break;
          const line = lineOf(record);
          collector.line(line);
          if (line.bytesBefore) far.push({ ...line.bytesBefore, path, line: line.number });
          break;
        }
        case 'end':
          if (path !== undefined) collector.end(record.data.binary_offset === null);
          if (collector.full) stop();
          break;
        case 'summary':
          scanned = record.data.stats.searches;
      }
    });
    const running = await spawn({
      file: binary,
      args,
      cwd: root,
      env,
      maxMemory: SEARCH_MAX_MEMORY,
      onOutput(stream, chunk) {
        if (stream === 'stderr') {
          if (stderr.length < STDERR_MAX_CHARS) stderr += chunk.toString('utf8', 0, STDERR_MAX_CHARS);
          return;
        }
        try {
          reader.write(chunk);
        } catch (error) {
          failure ??= error;
          stop();
        }
      },
    });
    stop = () => running.stop(0);
    let late = performance.now() >= until;
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, until - performance.now());
    signal.addEventListener('abort', stop, { once: true });
    if (late || signal.aborted || collector.full || failure !== undefined) stop();
    try {
      const exitCode = await running.ended;
      return { far, scanned, stderr, exitCode, failure, late };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  return withIncludes(search.request.include_globs, async (includes) => {
    const args = argumentsOf(search, inRepository, includes);
    const run = (more: readonly string[]) =>
      attempt([...more, ...args]).catch((error: unknown) => {
        throw new RipgrepUnusable('ripgrep does not start', { cause: error });
      });
    let ended = await run([]);
    if (isStarved(ended)) ended = await run(['--threads=1']);
    signal.throwIfAborted();
    if (ended.failure !== undefined) throw ended.failure;
    if (ended.late) throw new TimedOut();
    const { exitCode, stderr, scanned, far } = ended;
    if (NOT_STARTED.has(exitCode)) throw new RipgrepUnusable(stderr.trim());
    if (exceededMemory(exitCode) && !collector.full) throw new ServiceError('internal.error', OUT_OF_MEMORY);
    if (exitCode === 2 && scanned === undefined && !collector.full) {
      if (!refusesPattern(stderr)) throw new RipgrepUnusable(stderr.trim());
      throw invalidField('pattern', stderr.replace(/^rg: /, '').trim() || 'the pattern is refused');
    }
    return { scanned, far };
  });
}
