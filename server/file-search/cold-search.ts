/** Search of a tree that is not cached: ripgrep lists its files, from which the directories are derived. */
import { foldCase } from '#server/files/fold-case.ts';
import { runRipgrep, type SearchOptions, type SearchRuntime } from '#server/ripgrep/ripgrep.ts';
import { enterDirectory, startOfPath, type Progress, type Query } from './query.ts';
import type { Ranking } from './ranking.ts';

/** Never listed, regardless of ignore files. */
export const VERSION_CONTROL = new Set(['.git', '.jj', '.svn', '.hg', '.bzr']);
/** Limit of all names together; no tree that can be searched within the timeout has more. */
const MAX_LISTED_BYTES = 2 ** 30;

export interface ColdSearch {
  root: string;
  query: Query;
  ranking: Ranking;
  /** Whether an entry of a directory is included and, if it is a directory, entered. */
  admits(directory: string, name: string, isDirectory: boolean): boolean;
  followIgnoreFiles: boolean;
  /** Outside of a repository git's ignore files still apply, and those above the root do not. */
  outsideRepository: boolean;
  runtime: SearchRuntime;
  ripgrep?: SearchOptions['ripgrep'];
  timeoutMs: number;
  signal: AbortSignal;
}

const ignoreArguments = ({ followIgnoreFiles, outsideRepository }: ColdSearch) => {
  if (!followIgnoreFiles) return ['--no-ignore'];
  return outsideRepository ? ['--no-require-git', '--no-ignore-parent'] : [];
};

/**
 * Offers files and their directories to the ranking. Resolves to false if the timeout stopped the listing. Rejects with
 * a `SearchError` when ripgrep does not work, and with the signal's reason.
 */
export async function searchCold(search: ColdSearch): Promise<boolean> {
  const { root, query, ranking, admits, runtime, timeoutMs, signal } = search;
  /** Keyed by path; undefined for a directory that is not entered. */
  const directories = new Map<string, Progress | undefined>([['', startOfPath]]);

  function directory(path: string): Progress | undefined {
    if (directories.has(path)) return directories.get(path);
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const above = slash === -1 ? '' : path.slice(0, slash);
    const around = directory(above);
    let own: Progress | undefined;
    if (around && admits(above, name, true)) {
      ranking.offer(around, name, 'directory', () => path);
      own = enterDirectory(query, around, foldCase(name));
    }
    directories.set(path, own);
    return own;
  }

  /** Cache of the last file's directory: files of a directory are listed consecutively. */
  let parent = '';
  let progress: Progress | undefined = startOfPath;

  function take(record: string): boolean {
    const path = process.platform === 'win32' ? record.replaceAll('\\', '/') : record;
    const slash = path.lastIndexOf('/');
    if (Math.max(slash, 0) !== parent.length || !path.startsWith(parent)) {
      parent = slash === -1 ? '' : path.slice(0, slash);
      progress = directory(parent);
    }
    const name = path.slice(slash + 1);
    if (progress && admits(parent, name, false)) ranking.offer(progress, name, 'file', () => path);
    return false;
  }

  const begun = performance.now();
  const exclusions = [...VERSION_CONTROL].flatMap((name) => ['-g', `!${name}`]);
  const listing = ['--no-config', '--no-messages', '--color=never', '--files', '--hidden', '--null'];
  try {
    const { stopped } = await runRipgrep(
      {
        runtime,
        args: [...listing, ...ignoreArguments(search), ...exclusions],
        cwd: root,
        signal,
        maxBytes: MAX_LISTED_BYTES,
        separator: '\0',
        keep: take,
      },
      { timeoutMs, ...(search.ripgrep ? { ripgrep: search.ripgrep } : {}) },
    );
    return stopped === undefined;
  } catch (error) {
    signal.throwIfAborted();
    // The timeout stopped ripgrep before its first output.
    if (performance.now() - begun >= timeoutMs) return false;
    throw error;
  }
}
