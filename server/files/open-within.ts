/**
 * Opening what a path of a work directory names, without ever touching what lies outside. On Linux that holds by
 * construction: the path is opened as a mere place (nothing is read, no device or pipe wakes up), the real path of
 * that descriptor is compared with the real roots, and from then on only the descriptor is used, so a component that
 * is swapped for a link meanwhile changes nothing. Elsewhere the real path is looked at before and again after the
 * use; what happens in between goes unseen.
 */
import { existsSync, lstat, type Stats } from 'node:fs';
import { open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from './errno.ts';
import { isInside } from './paths.ts';
import type { RelativePath, WorkDirectory } from './work-directory.ts';

/** Linux: a descriptor that only stands for a place. Node has no name for it. */
export const O_PATH = 0o10000000;
/** The folder of this process's descriptors, shared by its threads. */
export const DESCRIPTORS = '/proc/self/fd';
/** Whether places are opened by descriptors. */
export const byDescriptor = process.platform === 'linux' && existsSync(DESCRIPTORS);

export const lstatOf: (path: string) => Promise<Stats> = promisify(lstat);

/** A file or directory that lies inside, links followed. */
export interface Place {
  /** What to give the file system instead of a path. A file is opened with it anew; `join(at, name)` is an entry. */
  readonly at: string;
  /** Links resolved; for messages and comparisons, never for use. */
  readonly real: string;
  stat(): Promise<Stats>;
  /** After the use: throws 41304 where the path leads elsewhere by now. */
  confirm(): Promise<void>;
  close(): Promise<void>;
}

const linkedOutside = (shown: string) =>
  new ServiceError('fs.path_escapes_session', `path "${shown}" escapes workspace through a symlink`);

/** Of a work directory and its additional ones; those that are not there lead nowhere. */
async function realRoots(directory: WorkDirectory): Promise<string[]> {
  const roots = [directory.root, ...(await directory.additionalDirs())];
  const real = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  return real.filter((root) => root !== undefined);
}

/** Opens whatever the path leads to. Rejects with the system's error. */
async function openPlace(path: string, shown: string): Promise<Place> {
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

/** Longer paths no system takes; their beginning may still lead outside. */
const MAX_PATH_LENGTH = 4096;

const isTooLong = (error: unknown) => errorCode(error) === 'ENAMETOOLONG';
/** Nothing is there, but something may be where the path leads on its way. */
const isAbsent = (error: unknown) =>
  isTooLong(error) || ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '');

/** The paths of one request: all of them are held to the same real roots. */
export interface Within {
  /** Opens what the path leads to. Throws 41304 outside, otherwise the system's error. */
  open(path: RelativePath, shown?: string): Promise<Place>;
  /** The same of an entry of an opened directory. */
  openEntry(parent: Place, name: string, shown: string): Promise<Place>;
  /**
   * Throws 41304 when the path leads outside, and the system's error for one that is too long; what is not there yet counts
   * as where its nearest ancestor lies.
   */
  check(path: RelativePath, shown?: string): Promise<void>;
}

export async function within(directory: WorkDirectory): Promise<Within> {
  const roots = await realRoots(directory);

  async function openInside(path: string, shown: string): Promise<Place> {
    const place = await openPlace(path, shown);
    if (roots.some((root) => isInside(place.real, root))) return place;
    await place.close();
    throw linkedOutside(shown);
  }

  /** Of the nearest ancestor that is there; `path` itself is not. */
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

  async function openChecked(path: RelativePath, shown: string = path): Promise<Place> {
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
        // What else is wrong with it is for its use to find.
        if (error instanceof ServiceError || isTooLong(error)) throw error;
      }
    },
  };
}

/** The directory of a path and its name there; the root has none. */
export function parentOf(path: RelativePath): { parent: RelativePath; name: string } | undefined {
  if (path === '.') return undefined;
  // Of a checked path, so checked.
  return { parent: dirname(path) as RelativePath, name: basename(path) };
}
