/** Reading what `git status --porcelain=v1 -z --branch` prints, as it comes. */
import type { GitChange } from '#schema/git.ts';

export interface BranchFacts {
  /** Empty on a detached HEAD; the unborn branch before the first commit. */
  branch: string;
  ahead: number;
  behind: number;
  unborn: boolean;
}

export interface StatusEntry {
  /** Below the top of the work tree; a directory that is untracked or ignored as a whole ends with a slash. */
  path: string;
  /** Where a renamed file was before. */
  from: string | undefined;
  status: GitChange;
  /** The index differs from HEAD, the work tree from the index; of a conflict both are true. */
  inIndex: boolean;
  inWorkTree: boolean;
}

const CONFLICTS = new Set(['DD', 'AU', 'UD', 'UA', 'DU', 'AA', 'UU']);

function statusOf(xy: string): GitChange | undefined {
  if (xy === '??') return 'untracked';
  if (xy === '!!') return 'ignored';
  if (CONFLICTS.has(xy)) return 'conflicted';
  if (xy.includes('D')) return 'deleted';
  if (/[MT]/.test(xy)) return 'modified';
  if (/[RC]/.test(xy)) return 'renamed';
  return xy.includes('A') ? 'added' : undefined;
}

/** Of the first record; no name of a branch has a space or two dots. */
export function parseBranch(header: string): BranchFacts {
  if (header === 'HEAD (no branch)') return { branch: '', ahead: 0, behind: 0, unborn: false };
  const unborn = /^(No commits yet|Initial commit) on /.exec(header)?.[0];
  const [name = '', ...facts] = header.slice(unborn?.length ?? 0).split(' ');
  const count = (word: string) => Number(new RegExp(`\\b${word} (\\d+)`).exec(facts.join(' '))?.[1] ?? 0);
  return {
    branch: name.split('...', 1)[0] ?? '',
    ahead: count('ahead'),
    behind: count('behind'),
    unborn: unborn !== undefined,
  };
}

/** Takes the output in pieces and hands each entry over when it is whole. */
export function createStatusReader(onEntry: (entry: StatusEntry) => void): {
  write(text: string): void;
  branch(): BranchFacts;
} {
  let branch: BranchFacts = { branch: '', ahead: 0, behind: 0, unborn: false };
  /** Its former name is the next record. */
  let renamed: StatusEntry | undefined;
  let rest = '';

  function take(record: string): void {
    if (renamed) {
      onEntry({ ...renamed, from: record });
      renamed = undefined;
      return;
    }
    const xy = record.slice(0, 2);
    const path = record.slice(3);
    if (xy === '##') {
      branch = parseBranch(path);
      return;
    }
    const status = statusOf(xy);
    if (status === undefined) return;
    const entry: StatusEntry = {
      path,
      from: undefined,
      status,
      inIndex: xy[0] !== ' ',
      inWorkTree: xy[1] !== ' ',
    };
    if (/[RC]/.test(xy)) renamed = entry;
    else onEntry(entry);
  }

  return {
    write(text) {
      let start = 0;
      for (let end = text.indexOf('\0'); end !== -1; end = text.indexOf('\0', start)) {
        take(rest + text.slice(start, end));
        rest = '';
        start = end + 1;
      }
      rest += text.slice(start);
    },
    branch: () => branch,
  };
}
