/** Documents of a directory, named after its real path, so that a directory and a link to it share them. */
import { realpath } from 'node:fs/promises';
import { errorCode } from '#server/errors/errno.ts';
import { workspaceIdOf } from './workspace-root.ts';

export interface DirectoryDocument {
  /** The directory with its links resolved. */
  real: string;
  key: string;
}

/** Codes of a directory that does not exist; its path is used unresolved. */
const MISSING = new Set(['ENOENT', 'ENOTDIR']);

/** Returns the key of the document under a prefix such as `trust`. Rejects with the system's error. */
export async function documentOf(prefix: string, directory: string): Promise<DirectoryDocument> {
  const real = await realpath(directory).catch((error: unknown) => {
    if (MISSING.has(errorCode(error) ?? '')) return directory;
    throw error;
  });
  return { real, key: `${prefix}:${workspaceIdOf(real)}.json` };
}
