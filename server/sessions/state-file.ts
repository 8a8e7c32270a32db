/** `state.json`: a session as it is known without its journal and without the index. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/errors/errno.ts';
import { parseState, stateText, type StoredHeader } from './session-header.ts';

/** By which a file is known to be the one that was read or written. */
export interface FileStamp {
  mtime: number;
  size: number;
}

const statePath = (dir: string) => join(dir, 'state.json');

/** Undefined when there is no file. */
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
 * Undefined when there is none, and when it is damaged or may not be read: `onDamage` receives why. The journal has what
 * lists need. Throws the system's other errors.
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

/** Replaces the whole file; resolves when it is on the disk. */
export async function writeStateFile(dir: string, stored: StoredHeader): Promise<FileStamp | undefined> {
  await writeFileAtomic(statePath(dir), stateText(stored));
  return stateStamp(dir);
}
