/** One search: lists the directory for an empty query, else searches the cached tree or ripgrep's list. */
import { realpath } from 'node:fs/promises';
import { entryGlobs, type EntryGlobs } from '#server/files/entry-globs.ts';
import { SearchError, type SearchOptions, type SearchRuntime } from '#server/ripgrep/ripgrep.ts';
import type { WorkDirectory } from '#server/files/work-directory.ts';
import type { FileHits, SearchFiles } from '#schema/rest/file-search.ts';
import { searchCold, VERSION_CONTROL } from './cold-search.ts';
import type { KnownTrees, KnownTreesDeps } from './known-trees.ts';
import { parseQuery } from './query.ts';
import { createRanking, type HitOrder } from './ranking.ts';
import { listTopLevel } from './top-level.ts';
import { searchWarm } from './warm-search.ts';

const TIMEOUT_MS = 10_000;

export interface WantedHits {
  order: HitOrder;
  showHidden: boolean;
  signal: AbortSignal;
}

export interface SearchDeps extends Pick<KnownTreesDeps, 'env' | 'topOf'> {
  runtime: SearchRuntime;
  /** Default: the installed ripgrep; tests pass another. */
  ripgrep?: SearchOptions['ripgrep'] | undefined;
  /** Time limit of a search; default: 10 s. */
  timeoutMs?: number | undefined;
}

export interface FindOptions extends WantedHits, SearchDeps {
  known: KnownTrees;
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
      // Called for every entry, so the cheap test is first; all version control folders begin with a dot.
      if (name.startsWith('.') && (!showHidden || VERSION_CONTROL.has(name))) return false;
      return !exclude || !exclude.matches(directory === '' ? name : `${directory}/${name}`, isDirectory);
    },
    includes: include?.matches,
  };
}

/** See `FileSearch.search`. */
export async function findFiles(
  directory: WorkDirectory,
  request: SearchFiles,
  { known, runtime, ripgrep, timeoutMs = TIMEOUT_MS, env, topOf, order, showHidden, signal }: FindOptions,
): Promise<FileHits> {
  const { limit, follow_gitignore: followIgnoreFiles } = request;
  const { admits, includes } = createFilter(request, showHidden);
  const query = parseQuery(request.query);
  if (!query) {
    const exclude: EntryGlobs = {
      matches: (path, isDirectory) => !admits('', path, isDirectory) || includes?.(path, isDirectory) === false,
      reachBelow: () => false,
    };
    // An empty query lists hidden entries only for a completion that requests them.
    const hidden = order === 'completion' && showHidden;
    const options = { limit, showHidden: hidden, followIgnoreFiles, exclude, env: env(), topOf, signal };
    return listTopLevel(directory, options);
  }
  const root = await realpath(directory.root).catch(() => undefined);
  if (root === undefined) return { items: [], truncated: false };

  const timeOut = AbortSignal.timeout(timeoutMs);
  const common = { query, admits, timeoutMs, signal };
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
    const outsideRepository = (await topOf(root ?? '')) === undefined;
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
    // Without ripgrep the search waits for the tree.
    if (!(error instanceof SearchError)) throw error;
    const waited = await warm(await known.wait(root, AbortSignal.any([signal, timeOut])));
    signal.throwIfAborted();
    if (!waited) throw error;
    return waited;
  } finally {
    known.keep(root);
  }
}
