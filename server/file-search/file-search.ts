/** Finding files of a work directory by parts of their names. */
import { realpath } from 'node:fs/promises';
import { entryGlobs, type EntryGlobs } from '#server/files/entry-globs.ts';
import { workTreeTop } from '#server/files/ignore-rules.ts';
import { SearchError, type SearchOptions } from '#server/files/ripgrep.ts';
import type { WorkDirectory } from '#server/files/work-directory.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { FileHits, SearchFiles, SuggestFiles } from '#schema/file-search.ts';
import { searchCold, VERSION_CONTROL } from './cold-search.ts';
import { createKnownTrees, type KnownTreesDeps } from './known-trees.ts';
import { parseQuery } from './query.ts';
import { createRanking, type HitOrder } from './ranking.ts';
import { listTopLevel } from './top-level.ts';
import { searchWarm } from './warm-search.ts';

const TIMEOUT_MS = 10_000;

export interface FileSearch {
  /** Hits by score. Throws 40001 of a glob, 40409 when nothing is asked for and the directory is gone. */
  search(directory: WorkDirectory, request: SearchFiles, signal: AbortSignal): Promise<FileHits>;
  /** The same as completions: hidden entries only when asked for, in the order of what is likely meant. */
  suggest(directory: WorkDirectory, request: SuggestFiles, signal: AbortSignal): Promise<FileHits>;
  /** Forgets the trees that are known. */
  close(): void;
}

export interface FileSearchDeps extends KnownTreesDeps {
  runtime: Pick<Runtime, 'environment' | 'spawn' | 'which'>;
  /** Tests name another ripgrep. */
  ripgrep?: SearchOptions['ripgrep'];
}

interface Filter {
  admits(directory: string, name: string, isDirectory: boolean): boolean;
  includes: EntryGlobs['matches'] | undefined;
}

function createFilter(request: SearchFiles, showHidden: boolean): Filter {
  const include = entryGlobs(request.include_globs, 'include_globs');
  const exclude = entryGlobs(request.exclude_globs, 'exclude_globs');
  return {
    admits(directory, name, isDirectory) {
      // Asked of every entry there is; what is not wanted begins with a dot.
      if (name.startsWith('.') && (!showHidden || VERSION_CONTROL.has(name))) return false;
      return !exclude || !exclude.matches(directory === '' ? name : `${directory}/${name}`, isDirectory);
    },
    includes: include?.matches,
  };
}

/** Creates the service; nothing is known. */
export function createFileSearch(deps: FileSearchDeps): FileSearch {
  const { runtime, ripgrep, env } = deps;
  const known = createKnownTrees(deps);

  async function find(
    directory: WorkDirectory,
    request: SearchFiles,
    { order, showHidden, signal }: { order: HitOrder; showHidden: boolean; signal: AbortSignal },
  ): Promise<FileHits> {
    const { limit, follow_gitignore: followIgnoreFiles } = request;
    const { admits, includes } = createFilter(request, showHidden);
    const query = parseQuery(request.query);
    if (!query) {
      const exclude: EntryGlobs = {
        matches: (path, isDirectory) => !admits('', path, isDirectory) || includes?.(path, isDirectory) === false,
        reachBelow: () => false,
      };
      // Hidden entries are left out of this list unless a completion asks for them.
      const hidden = order === 'completion' && showHidden;
      return listTopLevel(directory, { limit, showHidden: hidden, followIgnoreFiles, exclude, env: env(), signal });
    }
    const root = await realpath(directory.root).catch(() => undefined);
    if (root === undefined) return { items: [], truncated: false };

    const common = { query, admits, timeoutMs: TIMEOUT_MS, signal };
    const ranking = () => createRanking({ query, limit, order, includes });
    const answer = async (hits: ReturnType<typeof ranking>, search: Promise<boolean>) => {
      const complete = await search;
      const { items, truncated } = hits.hits();
      return { items, truncated: truncated || !complete };
    };

    async function warm(tree: Awaited<ReturnType<typeof known.find>>): Promise<FileHits | undefined> {
      if (!tree) return undefined;
      const hits = ranking();
      return answer(hits, searchWarm({ ...common, root: tree, ranking: hits }));
    }

    async function cold(): Promise<FileHits> {
      const hits = ranking();
      const outsideRepository = (await workTreeTop(root ?? '')) === undefined;
      const options = { root: root ?? '', runtime, ripgrep, followIgnoreFiles, outsideRepository };
      return answer(hits, searchCold({ ...common, ...options, ranking: hits }));
    }

    if (!followIgnoreFiles) return cold();
    const found = await warm(await known.find(root));
    if (found) {
      known.keep(root);
      return found;
    }
    try {
      return await cold();
    } catch (error) {
      // Without ripgrep the tree answers, as soon as it is known.
      const waited = error instanceof SearchError ? await warm(await known.wait(root)) : undefined;
      if (!waited) throw error;
      return waited;
    } finally {
      known.keep(root);
    }
  }

  return {
    search: (directory, request, signal) => find(directory, request, { order: 'score', showHidden: true, signal }),
    suggest: (directory, request, signal) =>
      find(directory, request, { order: 'completion', showHidden: request.show_hidden, signal }),
    close: known.close,
  };
}
