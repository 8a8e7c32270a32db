/** Whether a path names the kind of file that a caller needs. */
import { isAbsolute } from 'node:path';
import { errorCode } from './errno.ts';

interface Stats {
  isFile(): boolean;
  isDirectory(): boolean;
}

export type DirectoryFault = 'missing' | 'forbidden' | 'not a directory';

/** Codes of a name that no file can have, or that leads nowhere. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE']);
const FORBIDDEN = new Set(['EACCES', 'EPERM']);

/**
 * Why the path is no existing directory, links followed; undefined when it is one. A relative path is never expanded
 * and does not exist. Rejects with what else goes wrong.
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

/** Why the file cannot be read or written as one; undefined for a regular file. */
export function regularFileProblem(path: string, stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  return stats.isDirectory() ? `${path} is a directory.` : `${path} is not a regular file.`;
}
