/** How the files of a list differ from the last commit. */
import type { WorkDirectory } from '#server/files/work-directory.ts';
import type { FileEntry, GitStatus } from '#schema/file-entry.ts';

/** The mark of an entry; `path` is relative to the work directory. */
export type GitMarks = (path: string, kind: FileEntry['kind']) => GitStatus;

/** One look at the repository for a whole list; undefined where there is none, or no git. */
export type ReadGitMarks = (directory: WorkDirectory, signal: AbortSignal) => Promise<GitMarks | undefined>;
