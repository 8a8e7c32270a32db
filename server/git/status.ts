/** What has changed in a work directory since the last commit. */
import type { GitStatusReply } from '#schema/git.ts';
import type { RelativePath } from '#server/files/work-directory.ts';
import { createStatusReader, type BranchFacts, type StatusEntry } from './status-output.ts';
import { dirtySubmodules } from './submodules.ts';
import { gitUnavailable, type WorkTree } from './work-tree.ts';

/** Some 300,000 paths; a reply is held in memory. */
const STATUS_MAX_BYTES = 32 * 1024 * 1024;
const NUMSTAT_MAX_BYTES = 64 * 1024 * 1024;
/** Above this many the whole directory is compared instead of the paths that are known to have changed. */
const MAX_COMPARED_PATHS = 500;

/**
 * One run of git for everything below the work directory. `onEntry` is told each change as git tells it, with paths
 * relative to the work directory.
 */
export async function readStatus(
  tree: WorkTree,
  { ignored = false, onEntry }: { ignored?: boolean; onEntry(entry: StatusEntry): void },
): Promise<BranchFacts> {
  const { prefix } = tree;
  const inside = (path: string) => (path.startsWith(prefix) ? path.slice(prefix.length) : undefined);
  const reader = createStatusReader(({ path, from, ...entry }) => {
    const own = inside(path);
    if (own === undefined) return;
    // The work directory itself, where it is untracked as a whole.
    onEntry({ path: own === '' ? './' : own, from: from === undefined ? undefined : inside(from), ...entry });
  });
  const args = [
    'status',
    '--porcelain=v1',
    '-z',
    '--branch',
    '--ahead-behind',
    '--untracked-files=normal',
    `--ignored=${ignored ? 'traditional' : 'no'}`,
    '--find-renames',
    // Else git starts a git in each, which obeys what is configured there.
    '--ignore-submodules=dirty',
    // A rename across the border is an addition or a deletion here.
    ...(prefix === '' ? [] : ['--', '.']),
  ];
  const { cut } = await tree.read(args, { onText: reader.write, maxOutputBytes: STATUS_MAX_BYTES });
  if (cut) throw gitUnavailable(tree.directory, 'too many changes');
  return reader.branch();
}

interface LineCounts {
  additions: number;
  deletions: number;
}

/** Adds up `git diff --numstat`, line by line; binary files have `-` there. */
function createNumstatReader(): { write(text: string): void; counts: LineCounts } {
  const counts: LineCounts = { additions: 0, deletions: 0 };
  let rest = '';
  return {
    counts,
    write(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, added, deleted] = /^(\d+)\t(\d+)\t/.exec(line) ?? [];
        counts.additions += Number(added ?? 0);
        counts.deletions += Number(deleted ?? 0);
      }
    },
  };
}

interface Changed {
  /** Undefined when there are too many to name. */
  paths: string[] | undefined;
  inIndex: boolean;
  inWorkTree: boolean;
}

/**
 * Lines of the work tree and the index against HEAD. Only where both have changes are the two compared, which walks all
 * of HEAD; where one has none, the index stands for it.
 */
async function countLines(tree: WorkTree, { paths, inIndex, inWorkTree }: Changed): Promise<LineCounts> {
  const reader = createNumstatReader();
  const sides = inIndex && inWorkTree ? ['HEAD'] : inIndex ? ['--cached', 'HEAD'] : [];
  const args = ['diff', '--numstat', ...DIFF_OPTIONS, '-M', ...sides, '--', ...(paths ?? ['.'])];
  const { cut } = await tree.read(args, { onText: reader.write, maxOutputBytes: NUMSTAT_MAX_BYTES });
  if (cut) throw gitUnavailable(tree.directory, 'too many changes');
  return reader.counts;
}

/** For every `git diff`: nothing is started, and no configuration changes what it prints. */
export const DIFF_OPTIONS = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--ignore-submodules=dirty',
  '--submodule=short',
  '--no-relative',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--unified=3',
  '--inter-hunk-context=0',
  '-O/dev/null',
];

/** Whether the entry is one of the paths or lies below one. */
const isAmong = (paths: readonly RelativePath[]) => {
  const wanted = new Set<string>(paths);
  return (entry: string): boolean => {
    if (wanted.has('.') || wanted.has(entry)) return true;
    for (let end = entry.indexOf('/'); end !== -1; end = entry.indexOf('/', end + 1)) {
      if (wanted.has(entry.slice(0, end))) return true;
    }
    return false;
  };
};

/** The reply, but for the pull request; `paths` choose among the entries alone. */
export async function gitStatus(
  tree: WorkTree,
  paths: readonly RelativePath[],
): Promise<Omit<GitStatusReply, 'pullRequest'>> {
  // A file may be called `__proto__`.
  const entries: GitStatusReply['entries'] = Object.create(null);
  const known = new Set<string>();
  const changed = { paths: Array.of<string>(), inIndex: false, inWorkTree: false };
  const chosen = paths.length === 0 ? () => true : isAmong(paths);
  const onEntry = ({ path, from, status, inIndex, inWorkTree }: StatusEntry) => {
    known.add(path);
    if (chosen(path)) entries[path] = status;
    if (status === 'untracked') return;
    changed.inIndex ||= inIndex;
    changed.inWorkTree ||= inWorkTree;
    if (changed.paths.length <= MAX_COMPARED_PATHS) changed.paths.push(path, ...(from === undefined ? [] : [from]));
  };
  const { branch, ahead, behind, unborn } = await readStatus(tree, { onEntry });
  for (const path of await dirtySubmodules(tree, known)) if (chosen(path)) entries[path] = 'modified';
  const { length } = changed.paths;
  const named = length > MAX_COMPARED_PATHS ? undefined : changed.paths;
  const counts =
    unborn || length === 0 ? { additions: 0, deletions: 0 } : await countLines(tree, { ...changed, paths: named });
  return { branch, ahead, behind, entries, ...counts };
}
