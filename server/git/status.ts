/** Changes in a work directory since the last commit. */
import type { GitStatusReply } from '#schema/rest/git.ts';
import type { RelativePath } from '#server/files/work-directory.ts';
import { createLineCounter } from './line-counts.ts';
import { createStatusReader, type BranchStatus, type StatusEntry } from './status-output.ts';
import { dirtySubmodules } from './submodules.ts';
import { gitUnavailable, type WorkTree } from './work-tree.ts';

/** Some 300,000 paths; a reply is built in memory. */
const STATUS_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Runs git a single time for everything below the work directory. `onEntry` receives each change as soon as git prints
 * it, with paths relative to the work directory.
 */
export async function readStatus(
  tree: WorkTree,
  { ignored = false, onEntry }: { ignored?: boolean; onEntry(entry: StatusEntry): void },
): Promise<BranchStatus> {
  const { prefix } = tree;
  const inside = (path: string) => (path.startsWith(prefix) ? path.slice(prefix.length) : undefined);
  const reader = createStatusReader(({ path, ...entry }) => {
    const own = inside(path);
    if (own === undefined) return;
    // The work directory itself, if it is untracked as a whole.
    onEntry({ path: own === '' ? './' : own, ...entry });
  });
  const args = [
    'status',
    '--porcelain=v2',
    '-z',
    '--branch',
    '--ahead-behind',
    '--untracked-files=normal',
    `--ignored=${ignored ? 'traditional' : 'no'}`,
    '--find-renames',
    // Default: git starts a git process in each submodule, which obeys the configuration there.
    '--ignore-submodules=dirty',
    // A rename into or out of the work directory is reported as an addition or a deletion.
    ...(prefix === '' ? [] : ['--', '.']),
  ];
  const { cut } = await tree.read(args, { onText: reader.write, maxOutputBytes: STATUS_MAX_BYTES });
  if (cut) throw gitUnavailable(tree.directory, 'too many changes');
  return reader.branch;
}

/** Whether the entry is one of the paths or is below one. */
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

/** Builds the reply without the pull request; `paths` only filter the entries. */
export async function gitStatus(
  tree: WorkTree,
  paths: readonly RelativePath[],
): Promise<Omit<GitStatusReply, 'pullRequest'>> {
  // A file may be called `__proto__`.
  const entries: GitStatusReply['entries'] = Object.create(null);
  const known = new Set<string>();
  const lines = createLineCounter(tree);
  const chosen = paths.length === 0 ? () => true : isAmong(paths);
  const onEntry = (entry: StatusEntry) => {
    known.add(entry.path);
    if (chosen(entry.path)) entries[entry.path] = entry.status;
    lines.add(entry);
  };
  const { branch, ahead, behind, unborn } = await readStatus(tree, { onEntry });
  for (const path of await dirtySubmodules(tree, known)) if (chosen(path)) entries[path] = 'modified';
  const counts = unborn ? { additions: 0, deletions: 0 } : await lines.count();
  return { branch, ahead, behind, entries, ...counts };
}
