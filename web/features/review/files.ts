/** The files of a review. */
import type { GitStatus, GitStatusReply } from '@service-code/client';
import type { EditedFile } from './edits.ts';

export interface ReviewedFile {
  path: string;
  /** A status of git; or the kind of the calls. */
  mark: GitStatus | 'written' | 'edited';
  /** Counted lines; undefined if they are only known after its difference was read. */
  counts?: { added: number; removed: number } | undefined;
  /** Differs after a call has changed the file. */
  version: string;
}

/** `edited` are the edits of the session. */
export function treeFiles(
  { entries }: Pick<GitStatusReply, 'entries'>,
  edited: readonly Pick<EditedFile, 'path' | 'frames'>[],
): ReviewedFile[] {
  const calls = new Map(edited.map(({ path, frames }) => [path, frames]));
  return Object.entries(entries).map(([path, mark]) => ({
    path,
    mark,
    // Only the last call: earlier turns are loaded later.
    version: `${mark} ${calls.get(path)?.at(-1)?.toolCallId ?? ''}`,
  }));
}

/** A new folder is one entry, without a difference. */
export const isFolder = (path: string): boolean => path.endsWith('/');

/** The displayed file, or else the first one. */
export const displayedPath = (files: readonly ReviewedFile[], chosen: string | undefined): string | undefined =>
  (files.find(({ path }) => path === chosen) ?? files[0])?.path;
