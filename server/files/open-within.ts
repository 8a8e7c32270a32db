/**
 * Opens paths of a work directory without ever accessing files outside it. On Linux this is race-free: the path is
 * opened with O_PATH (reads no data, triggers no device or pipe), the real path of that descriptor is compared with the
 * real roots, and afterwards only the descriptor is used, so swapping a component for a link has no effect. Elsewhere
 * the real path is checked before and again after the use; changes in between are not detected.
 */
import { lstat, type Stats } from 'node:fs';
import { open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { byDescriptor, DESCRIPTORS, O_PATH } from './descriptors.ts';
import { isInside } from './paths.ts';
import type { RelativePath, WorkDirectory } from './work-directory.ts';

export const lstatOf: (path: string) => Promise<Stats> = promisify(lstat);

/** A file or directory inside the roots, links followed. */
export interface OpenPath {
  /** Path to use for file system calls. A file is opened again through it; `join(at, name)` is an entry. */
  readonly at: string;
  /** Path with links resolved; only for messages and comparisons. */
  readonly real: string;
  stat(): Promise<Stats>;
  /** To call after the use: throws `fs.path_escapes_session` if the path leads elsewhere by now. */
  confirm(): Promise<void>;
  close(): Promise<void>;
}

const linkedOutside = (shown: string) =>
  new ServiceError('fs.path_escapes_session', `path "${shown}" escapes workspace through a symlink`);

/** Real paths of the work directory and its additional directories; missing directories are omitted. */
async function realRoots(directory: WorkDirectory): Promise<string[]> {
  const roots = [directory.root, ...(await directory.additionalDirs())];
  const real = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  return real.filter((root) => root !== undefined);
}

/** Opens the target of the path. Rejects with the system's error. */
async function openPlace(path: string, shown: string): Promise<OpenPath> {
  if (byDescriptor) {
    const handle = await open(path, O_PATH);
    try {
      const at = `${DESCRIPTORS}/${handle.fd}`;
      const real = await readlink(at);
      return { at, real, stat: () => handle.stat(), confirm: async () => undefined, close: () => handle.close() };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
  const real = await realpath(path);
  return {
    at: real,
    real,
    stat: () => stat(real),
    async confirm() {
      if ((await realpath(path)) !== real) throw linkedOutside(shown);
    },
    close: async () => undefined,
  };
}

/** Longer than any path a system accepts; its prefix may still lead outside. */
const MAX_PATH_LENGTH = 4096;

const isTooLong = (error: unknown) => errorCode(error) === 'ENAMETOOLONG';
/** The path does not exist, but its ancestors might. */
const isAbsent = (error: unknown) =>
  isTooLong(error) || ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '');

/** Access for the paths of one request: all are checked against the same real roots. */
export interface Within {
  /** Opens the target of a path. Throws `fs.path_escapes_session` outside the roots, otherwise the system's error. */
  open(path: RelativePath, shown?: string): Promise<OpenPath>;
  /** Like `open`, for an entry of an opened directory. */
  openEntry(parent: OpenPath, name: string, shown: string): Promise<OpenPath>;
  /**
   * Throws `fs.path_escapes_session` if the path leads outside, and the system's error if it is too long. For a missing
   * path its nearest existing ancestor decides.
   */
  check(path: RelativePath, shown?: string): Promise<void>;
}

export async function within(directory: WorkDirectory): Promise<Within> {
  const roots = await realRoots(directory);

  async function openInside(path: string, shown: string): Promise<OpenPath> {
    const place = await openPlace(path, shown);
    if (roots.some((root) => isInside(place.real, root))) return place;
    await place.close();
    throw linkedOutside(shown);
  }

  /** Checks the nearest existing ancestor of a missing path. */
  async function checkAncestors(path: RelativePath, shown: string): Promise<void> {
    for (let at: string = path.slice(0, MAX_PATH_LENGTH); at !== '.';) {
      at = dirname(at);
      try {
        await (await openInside(join(directory.root, at), shown)).close();
        return;
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    }
  }

  async function openChecked(path: RelativePath, shown: string = path): Promise<OpenPath> {
    try {
      return await openInside(join(directory.root, path), shown);
    } catch (error) {
      if (isAbsent(error)) await checkAncestors(path, shown);
      throw error;
    }
  }

  return {
    open: openChecked,
    openEntry: (parent, name, shown) => openInside(join(parent.at, name), shown),
    async check(path, shown = path) {
      try {
        await (await openChecked(path, shown)).close();
      } catch (error) {
        // Other errors are left to the operation that uses the path.
        if (error instanceof ServiceError || isTooLong(error)) throw error;
      }
    },
  };
}

/** The directory of a path and its name there; undefined for the root. */
export function parentOf(path: RelativePath): { parent: RelativePath; name: string } | undefined {
  if (path === '.') return undefined;
  // The parent of a checked path needs no check.
  return { parent: dirname(path) as RelativePath, name: basename(path) };
}
