/** The files of a review. */
import type { GitStatus, GitStatusReply } from '@service-code/client';

export interface ReviewedFile {
  path: string;
  /** A status of git; or the kind of the calls. */
  mark: GitStatus | 'written' | 'edited';
  /** Counted lines; undefined if they are only known after its difference was read. */
  counts?: { added: number; removed: number } | undefined;
}

export const treeFiles = ({ entries }: Pick<GitStatusReply, 'entries'>): ReviewedFile[] =>
  Object.entries(entries).map(([path, mark]) => ({ path, mark }));

/** A new folder is one entry, without a difference. */
export const isFolder = (path: string): boolean => path.endsWith('/');

/** The displayed file, or else the first one. */
export const displayedPath = (files: readonly ReviewedFile[], chosen: string | undefined): string | undefined =>
  (files.find(({ path }) => path === chosen) ?? files[0])?.path;
