/** Checks whether a path is a directory or a regular file. */
import { isAbsolute } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';

interface Stats {
  isFile(): boolean;
  isDirectory(): boolean;
}

export type DirectoryFault = 'missing' | 'forbidden' | 'not a directory';

/** Codes for names that no file can have, missing paths and unusable links. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE']);
const FORBIDDEN = new Set(['EACCES', 'EPERM']);

/**
 * Reason why the path is not an existing directory (links followed); undefined if it is one. A relative path is treated
 * as missing. Rejects with any other system error.
 */
export async function directoryFault(
  path: string,
  stat: (path: string) => Promise<Pick<Stats, 'isDirectory'>>,
): Promise<DirectoryFault | undefined> {
  if (!isAbsolute(path)) return 'missing';
  try {
    return (await stat(path)).isDirectory() ? undefined : 'not a directory';
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (ABSENT.has(code)) return 'missing';
    if (FORBIDDEN.has(code)) return 'forbidden';
    throw error;
  }
}

/** Reason why the path cannot be read or written as a file; undefined for a regular file. */
export function regularFileProblem(path: string, stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  return stats.isDirectory() ? `${path} is a directory.` : `${path} is not a regular file.`;
}
