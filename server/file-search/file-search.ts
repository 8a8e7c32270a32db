/** Finds files of a work directory by parts of their names. */
import type { WorkDirectory } from '#server/files/work-directory.ts';
import type { FileHits, SearchFiles, SuggestFiles } from '#schema/rest/file-search.ts';
import type { SearchDeps, WantedHits } from './find-files.ts';
import type { KnownTrees, KnownTreesDeps } from './known-trees.ts';

export interface FileSearch {
  /** Returns hits by score. Throws `validation.failed` for a glob; an empty query also `fs.path_not_found`. */
  search(directory: WorkDirectory, request: SearchFiles, signal: AbortSignal): Promise<FileHits>;
  /** Returns completions: hidden entries only on request, the likeliest first. */
  suggest(directory: WorkDirectory, request: SuggestFiles, signal: AbortSignal): Promise<FileHits>;
  /** Releases the cached trees. */
  close(): void;
}

export type FileSearchDeps = KnownTreesDeps & SearchDeps;

/** Creates the service, with an empty cache. */
export function createFileSearch(deps: FileSearchDeps): FileSearch {
  const { trees, runtime, ripgrep, timeoutMs, env, topOf, clock, log } = deps;
  let known: KnownTrees | undefined;

  async function find(directory: WorkDirectory, request: SearchFiles, wanted: WantedHits): Promise<FileHits> {
    const [{ findFiles }, { createKnownTrees }] = await Promise.all([
      import('./find-files.ts'),
      import('./known-trees.ts'),
    ]);
    known ??= createKnownTrees({ trees, env, topOf, clock, log });
    return findFiles(directory, request, { ...wanted, known, runtime, ripgrep, timeoutMs, env, topOf });
  }

  return {
    search: (directory, request, signal) => find(directory, request, { order: 'score', showHidden: true, signal }),
    suggest: (directory, request, signal) =>
      find(directory, request, { order: 'completion', showHidden: request.show_hidden, signal }),
    close: () => known?.close(),
  };
}
