/** Searching a tree that is not known: ripgrep lists its files, of which the directories follow. */
import { foldCase } from '#server/files/fold-case.ts';
import { runRipgrep, type SearchOptions, type SearchRuntime } from '#server/files/ripgrep.ts';
import { enterDirectory, startOfPath, type Progress, type Query } from './query.ts';
import type { Ranking } from './ranking.ts';

/** Never listed, whatever ignore files say. */
export const VERSION_CONTROL = new Set(['.git', '.jj', '.svn', '.hg', '.bzr']);
/** Of all names together; no tree that can be searched in the time allowed has more. */
const MAX_LISTED_BYTES = 2 ** 30;

export interface ColdSearch {
  root: string;
  query: Query;
  ranking: Ranking;
  /** Whether an entry of a directory is shown and, if it is a directory, looked into. */
  admits(directory: string, name: string, isDirectory: boolean): boolean;
  followIgnoreFiles: boolean;
  /** Ignore files of git count without a repository, and those above the root do not. */
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
 * Offers files and their directories to the ranking. Resolves to false when time ran out before all were seen. Rejects
 * with a `SearchError` when ripgrep does not work, and with the signal's reason.
 */
export async function searchCold(search: ColdSearch): Promise<boolean> {
  const { root, query, ranking, admits, runtime, timeoutMs, signal } = search;
  /** By path; undefined for one that is not looked into. */
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

  /** Of the last file: those of a directory come together. */
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
    // Stopped before anything was found.
    if (performance.now() - begun >= timeoutMs) return false;
    throw error;
  }
}
