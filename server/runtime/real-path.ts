/** Resolves symbolic links on this machine. */
import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';

const MAX_LINKS = 40;

/**
 * The path with all links resolved. A missing path is resolved from its nearest existing ancestor; a dangling link is
 * followed, because writing through it would create its target. Throws on link cycles and unreadable folders.
 */
export async function realPath(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    const parent = dirname(path);
    if (parent === path) return path;
    const realParent = await realPath(parent, links);
    const target = await readlink(path).catch(() => undefined);
    if (target === undefined) return join(realParent, basename(path));
    if (links >= MAX_LINKS) throw new Error(`too many links: ${path}`, { cause: error });
    return realPath(resolve(realParent, target), links + 1);
  }
}
