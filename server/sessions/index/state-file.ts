/** Reads and writes `state.json`, a session's header on the disk. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/errors/errno.ts';
import { parseState, stateText, type StoredHeader } from './session-header.ts';

/** Identifies a version of a file. */
export interface FileStamp {
  mtime: number;
  size: number;
}

const statePath = (dir: string) => join(dir, 'state.json');

/** Returns the stamp of the file; undefined if it does not exist. */
export async function stateStamp(dir: string): Promise<FileStamp | undefined> {
  try {
    const { mtimeMs: mtime, size } = await stat(statePath(dir));
    return { mtime, size };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Errors of a file that stays unreadable; after others the next read may succeed. */
const UNREADABLE = new Set(['EISDIR', 'EACCES', 'EPERM', 'ELOOP']);

/**
 * Reads the file; undefined if it does not exist, is damaged or must not be read: `onDamage` receives the error, and
 * the header is folded from the journal instead. Throws other errors of the system.
 */
export async function readStateFile(
  dir: string,
  workspaceId: string,
  onDamage: (error: unknown) => void,
): Promise<StoredHeader | undefined> {
  try {
    return parseState(await readFile(statePath(dir), 'utf8'), workspaceId);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return undefined;
    if (code !== undefined && !UNREADABLE.has(code)) throw error;
    onDamage(error);
    return undefined;
  }
}

/** Replaces the file atomically; resolves when it is on the disk. */
export async function writeStateFile(dir: string, stored: StoredHeader): Promise<FileStamp | undefined> {
  await writeFileAtomic(statePath(dir), stateText(stored));
  return stateStamp(dir);
}
