/**
 * Compares rows of the index with the folders of sessions, on the file system only: the repair pass runs it in a thread.
 * A row is compared by the stamp of its `state.json`, which costs one `stat`.
 */
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';

/** A row's folder, and the stamp of the file that the row was last written to; null without a file. */
export interface RowStamp {
  workspaceId: string;
  id: string;
  mtime: number | null;
  size: number | null;
}

/** Indexes of the compared rows. */
export interface RowDifferences {
  /** The folder has another file than the row, or could not be read. */
  changed: number[];
  /** The folder does not exist. */
  removed: number[];
}

export interface FolderName {
  workspaceId: string;
  /** Id of a session, or the temporary name of an unfinished folder. */
  name: string;
}

export interface FolderComparison {
  /** Compares rows, which are read before the folders. Throws errors of the file system for a workspace's folder. */
  compare(rows: readonly RowStamp[]): RowDifferences;
  /** Returns the next folders whose row has not been compared; an empty list after the last one. Throws like `compare`. */
  rest(): FolderName[];
}

/** Folders that are returned in one list. */
const PORTION = 500;

const isMissing = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');

function directories(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Undefined if the system refuses to say. */
function isDirectory(path: string): boolean | undefined {
  try {
    return lstatSync(path).isDirectory();
  } catch (error) {
    return isMissing(error) ? false : undefined;
  }
}

function hasStamp(dir: string, { mtime, size }: RowStamp): boolean {
  try {
    const file = statSync(join(dir, 'state.json'), { throwIfNoEntry: false });
    return (file?.mtimeMs ?? null) === mtime && (file?.size ?? null) === size;
  } catch {
    return false;
  }
}

/** Starts a comparison; folders of a workspace are listed when the first of its rows is compared. */
export function createFolderComparison(sessionsDir: string): FolderComparison {
  /** Folders whose row has not been compared, by workspace id. */
  const folders = new Map<string, Set<string>>();
  let isComplete = false;

  function foldersOf(workspaceId: string): Set<string> {
    const known = folders.get(workspaceId);
    if (known) return known;
    const listed = new Set(directories(join(sessionsDir, workspaceId)));
    folders.set(workspaceId, listed);
    return listed;
  }

  return {
    compare(rows) {
      const differences: RowDifferences = { changed: [], removed: [] };
      for (const [index, row] of rows.entries()) {
        const dir = join(sessionsDir, row.workspaceId, row.id);
        // A folder that is not listed may have been created since.
        const exists = foldersOf(row.workspaceId).delete(row.id) || isDirectory(dir);
        if (exists === false) differences.removed.push(index);
        else if (exists === undefined || !hasStamp(dir, row)) differences.changed.push(index);
      }
      return differences;
    },
    rest() {
      if (!isComplete) for (const workspaceId of directories(sessionsDir)) foldersOf(workspaceId);
      isComplete = true;
      const found: FolderName[] = [];
      for (const [workspaceId, names] of folders) {
        for (const name of names) {
          if (found.length === PORTION) return found;
          names.delete(name);
          found.push({ workspaceId, name });
        }
      }
      return found;
    },
  };
}
