/** Incremental parser of the output of `git status --porcelain=v2 -z --branch`. */
import type { GitChange } from '#schema/rest/git.ts';

export interface BranchStatus {
  /** Empty on a detached HEAD; the unborn branch before the first commit. */
  branch: string;
  ahead: number;
  behind: number;
  unborn: boolean;
}

export interface StatusEntry {
  /** Relative to the top of the work tree; a directory that is untracked or ignored as a whole ends with a slash. */
  path: string;
  status: GitChange;
  /** The entry of HEAD at this path; undefined where index and HEAD have different paths. */
  head: { mode: string; id: string } | undefined;
}

/** Returns the status of two letters: the first is of the index, the second of the work tree. */
function statusOf(xy: string): GitChange | undefined {
  if (xy.includes('D')) return 'deleted';
  if (/[MT]/.test(xy)) return 'modified';
  if (/[RC]/.test(xy)) return 'renamed';
  return xy.includes('A') ? 'added' : undefined;
}

/** Changes of the index that keep the path as it is in HEAD. */
const SAME_PATH = /^[.MT]/;
const NO_OBJECT = /^0+$/;

/** Splits off `count` words; the rest is a path, which may have spaces. */
function words(record: string, count: number): { fields: string[]; path: string } {
  const fields = record.split(' ', count);
  return { fields, path: record.slice(fields.join(' ').length + 1) };
}

function takeHeader(line: string, branch: BranchStatus): void {
  const [name, ...values] = line.split(' ');
  if (name === 'branch.oid') branch.unborn = values[0] === '(initial)';
  else if (name === 'branch.head') branch.branch = values[0] === '(detached)' ? '' : (values[0] ?? '');
  else if (name === 'branch.ab') {
    branch.ahead = Math.abs(Number(values[0]));
    branch.behind = Math.abs(Number(values[1]));
  }
}

/** Returns the entry of a record; undefined for other records. */
function entryOf(record: string): StatusEntry | undefined {
  const [kind] = record;
  if (kind === '?' || kind === '!') {
    return { path: record.slice(2), status: kind === '?' ? 'untracked' : 'ignored', head: undefined };
  }
  if (kind === 'u') return { path: words(record, 10).path, status: 'conflicted', head: undefined };
  if (kind !== '1' && kind !== '2') return undefined;
  const { fields, path } = words(record, kind === '1' ? 8 : 9);
  const [, xy = '', , mode = '', , , id = ''] = fields;
  const status = statusOf(xy);
  const samePath = kind === '1' && SAME_PATH.test(xy) && !NO_OBJECT.test(id);
  return status && { path, status, head: samePath ? { mode, id } : undefined };
}

/** Creates a parser of chunks of output; `onEntry` receives each entry as soon as it is complete. */
export function createStatusReader(onEntry: (entry: StatusEntry) => void): {
  write(text: string): void;
  /** Complete after git has exited. */
  branch: BranchStatus;
} {
  const branch: BranchStatus = { branch: '', ahead: 0, behind: 0, unborn: false };
  /** Whether the next record is the old name of a renamed entry. */
  let skip = false;
  let rest = '';

  function take(record: string): void {
    if (skip) {
      skip = false;
      return;
    }
    if (record.startsWith('# ')) {
      takeHeader(record.slice(2), branch);
      return;
    }
    skip = record.startsWith('2 ');
    const entry = entryOf(record);
    if (entry) onEntry(entry);
  }

  return {
    branch,
    write(text) {
      let start = 0;
      for (let end = text.indexOf('\0'); end !== -1; end = text.indexOf('\0', start)) {
        take(rest + text.slice(start, end));
        rest = '';
        start = end + 1;
      }
      rest += text.slice(start);
    },
  };
}
