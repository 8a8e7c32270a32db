/** `state.json`: a session as it is known without its journal and without the index. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/files/errno.ts';
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

/** Undefined when there is none. Throws when it is damaged. */
export async function readStateFile(dir: string, workspaceId: string): Promise<StoredHeader | undefined> {
  let text: string;
  try {
    text = await readFile(statePath(dir), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  return parseState(text, workspaceId);
}

/** Replaces the whole file; resolves when it is on the disk. */
export async function writeStateFile(dir: string, stored: StoredHeader): Promise<FileStamp | undefined> {
  await writeFileAtomic(statePath(dir), stateText(stored));
  return stateStamp(dir);
}
