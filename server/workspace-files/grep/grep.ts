/** Searches the contents of a work directory's files. */
import { realpath, stat } from 'node:fs/promises';
import type { GrepFile, GrepReply, GrepRequest } from '#schema/rest/grep.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { onPath, pathNotFound } from '#server/files/path-error.ts';
import { findRipgrep, type SearchRuntime } from '#server/ripgrep/ripgrep.ts';
import type { WorkDirectory } from '#server/files/work-directory.ts';
import type { Projects } from '#server/project-files/projects.ts';
import { ownPrograms } from '#server/project-files/own-programs.ts';
import { createCollector } from './collect.ts';
import { findFarColumns } from './far-columns.ts';
import { searchInProcess } from './own-search.ts';
import { RipgrepUnusable, searchWithRipgrep } from './ripgrep-search.ts';
import { GREP_TIMEOUT_MS, TimedOut, type Search } from './search.ts';
import { createSelection } from './selection.ts';

export interface GrepDeps {
  runtime: SearchRuntime;
  topOf: Projects['topOf'];
  signal: AbortSignal;
  /** Finds ripgrep; undefined when it is missing. */
  ripgrep?: typeof findRipgrep;
  timeoutMs?: number | undefined;
}

const byCodeUnits = (a: GrepFile, b: GrepFile) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

/** Throws `validation.failed`, `fs.path_not_found` for the directory, `fs.grep_timeout`, and the signal's reason. */
export async function grep(
  directory: WorkDirectory,
  request: GrepRequest,
  { runtime, topOf, signal, ripgrep = findRipgrep, timeoutMs = GREP_TIMEOUT_MS }: GrepDeps,
): Promise<GrepReply> {
  const started = performance.now();
  const selection = createSelection(request);
  const collector = createCollector(request);
  const { root } = directory;
  const stats = await onPath('.', () => stat(root));
  if (!stats.isDirectory()) throw pathNotFound('.');
  const search: Search = { root, request, selection, collector, signal, until: started + timeoutMs };
  let scanned: number | undefined;
  try {
    // No line contains a line break.
    if (!request.pattern.includes('\n')) scanned = await run();
  } catch (error) {
    if (!(error instanceof TimedOut)) throw error;
    throw new ServiceError('fs.grep_timeout', `grep timed out after ${timeoutMs}ms`);
  }
  const { files, truncated } = collector.result();
  return {
    files: files.sort(byCodeUnits),
    files_scanned: Math.max(files.length, scanned ?? 0),
    truncated,
    elapsed_ms: Math.round(performance.now() - started),
  };

  async function run(): Promise<number | undefined> {
    const programs = await ownPrograms(root, runtime);
    const binary = await ripgrep(programs, runtime);
    if (binary !== undefined) {
      try {
        const inRepository = (await topOf(await realpath(root))) !== undefined;
        const found = await searchWithRipgrep(search, {
          binary,
          env: programs.environment,
          spawn: runtime.spawn,
          inRepository,
        });
        await findFarColumns(directory, collector.result().files, found.far, signal);
        return found.scanned;
      } catch (error) {
        if (!(error instanceof RipgrepUnusable)) throw error;
      }
    }
    return searchInProcess(directory, search, { env: runtime.environment(), topOf });
  }
}
