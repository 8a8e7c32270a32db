/** Creates directories. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { lstatOf, parentOf, within, type OpenPath, type Within } from '#server/files/open-within.ts';
import { onPath } from '#server/files/path-error.ts';
import { relativePath, type RelativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import type { FileEntry } from '#schema/rest/file-entry.ts';
import { readEntry, rootEntry } from './entry.ts';

const alreadyExists = (shown: string) => new ServiceError('fs.already_exists', `path already exists: ${shown}`);
const parentNotFound = (shown: string) => new ServiceError('fs.path_not_found', `parent not found: ${shown}`);

const missing = (error: unknown) => ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '');

/** Creates a directory; false when the name exists. */
async function makeEntry(parent: OpenPath, name: string): Promise<boolean> {
  try {
    await mkdir(join(parent.at, name));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function makeOne(inside: Within, path: RelativePath, shown: string): Promise<FileEntry> {
  const target = parentOf(path);
  if (!target) throw alreadyExists(shown);
  let parent: OpenPath;
  try {
    parent = await inside.open(target.parent, shown);
  } catch (error) {
    throw missing(error) ? parentNotFound(shown) : error;
  }
  try {
    if (!(await parent.stat()).isDirectory()) throw parentNotFound(shown);
    if (!(await makeEntry(parent, target.name))) throw alreadyExists(shown);
    await parent.confirm();
    return await readEntry(parent, target.name, path);
  } finally {
    await parent.close();
  }
}

/** Opens the directory `name` of `parent`, creating it if the name does not exist. */
async function enter(inside: Within, parent: OpenPath, name: string, shown: string): Promise<OpenPath> {
  let place: OpenPath;
  try {
    place = await inside.openEntry(parent, name, shown);
  } catch (error) {
    if (!missing(error)) throw error;
    await makeEntry(parent, name);
    // A dangling link occupies the name but cannot be a parent.
    place = await inside.openEntry(parent, name, shown).catch((again: unknown) => {
      throw missing(again) ? parentNotFound(shown) : again;
    });
  }
  if ((await place.stat()).isDirectory()) return place;
  await place.close();
  throw parentNotFound(shown);
}

async function makeAll(
  directory: WorkDirectory,
  inside: Within,
  path: RelativePath,
  shown: string,
): Promise<FileEntry> {
  const target = parentOf(path);
  const segments = target && target.parent !== '.' ? target.parent.split('/') : [];
  let place = await inside.open(relativePath('.'), shown);
  try {
    if (!target) return await rootEntry(place, directory.root);
    for (const segment of segments) {
      const next = await enter(inside, place, segment, shown);
      await place.close();
      place = next;
    }
    if (!(await makeEntry(place, target.name)) && !(await lstatOf(join(place.at, target.name))).isDirectory()) {
      throw alreadyExists(shown);
    }
    await place.confirm();
    return await readEntry(place, target.name, path);
  } finally {
    await place.close();
  }
}

/**
 * Creates a directory, with `recursive` also its missing parents; then an existing directory is no error. Throws
 * `fs.path_not_found`, `fs.permission_denied`, `fs.already_exists`, `fs.path_escapes_session`.
 */
export async function makeDirectory(
  directory: WorkDirectory,
  request: { path: string; recursive: boolean },
): Promise<FileEntry> {
  const { path: shown, recursive } = request;
  const path = relativePath(shown);
  const inside = await within(directory);
  return onPath(shown, async () => {
    await inside.check(path, shown);
    return recursive ? makeAll(directory, inside, path, shown) : makeOne(inside, path, shown);
  });
}
