/** The git status of each path, derived from the changes that git reports. */
import type { FileEntry, GitStatus } from '#schema/rest/file-entry.ts';
import type { StatusEntry } from './status-output.ts';

/** Returns the status of a path relative to the work directory, links resolved. */
export type GitMarks = (path: string, kind: FileEntry['kind']) => GitStatus;

const parents = function* (path: string): Generator<string> {
  for (let end = path.lastIndexOf('/'); end !== -1; end = path.lastIndexOf('/', end - 1)) yield path.slice(0, end);
};

export interface MarkTable {
  add(entry: Pick<StatusEntry, 'path' | 'status'>): void;
  /** Paths that git reported themselves, in contrast to their parents. */
  known: { has(path: string): boolean };
  of: GitMarks;
}

export function createMarks(): MarkTable {
  /** Statuses of files, and of directories that are untracked or ignored as a whole. */
  const own = new Map<string, GitStatus>();
  /** Statuses of directories that contain changes. */
  const beneath = new Map<string, 'conflicted' | 'modified'>();

  const inherited = (path: string): GitStatus | undefined => {
    for (const parent of parents(path)) {
      const status = own.get(parent);
      if (status === 'untracked' || status === 'ignored') return status;
    }
    return own.get('.');
  };

  return {
    known: own,
    add({ path, status }) {
      const name = path.replace(/\/$/, '');
      own.set(name, status);
      if (status === 'ignored') return;
      const mark = status === 'conflicted' ? 'conflicted' : 'modified';
      for (const parent of parents(name)) {
        const known = beneath.get(parent);
        // Its parents already have this status or a stronger one.
        if (known === mark || known === 'conflicted') break;
        beneath.set(parent, mark);
      }
    },
    of(path, kind) {
      const self = own.get(path);
      if (kind !== 'directory') return self ?? inherited(path) ?? 'clean';
      const whole = self === 'ignored' || self === 'untracked' ? self : inherited(path);
      // A submodule is a directory that has a status as files have.
      return whole ?? beneath.get(path) ?? (self === undefined ? 'clean' : 'modified');
    },
  };
}
