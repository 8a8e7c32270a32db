/** Reads the entries of paths. */
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { fileType } from '#server/files/file-types.ts';
import { mapLimit } from '#server/async/map-limit.ts';
import { parentOf, within, type OpenPath, type Within } from '#server/files/open-within.ts';
import { onPath, pathError } from '#server/files/path-error.ts';
import { relativePath, type RelativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import type { FileEntry } from '#schema/rest/file-entry.ts';
import { readEntry, rootEntry } from './entry.ts';

/** Type of a file whose name has no known type. */
const PLAIN = 'text/plain';

/** Throws `fs.path_escapes_session` when the link leads outside of the directory; a dangling link passes. */
async function checkLink(inside: Within, parent: OpenPath, name: string, shown: string): Promise<void> {
  try {
    await (await inside.openEntry(parent, name, shown)).close();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
  }
}

/** Returns the entry of a path, of a link itself, which must not lead outside: throws `fs.path_escapes_session`. */
export async function entryAt(
  directory: WorkDirectory,
  inside: Within,
  path: RelativePath,
  shown: string,
): Promise<FileEntry> {
  const { parent, name } = parentOf(path) ?? { parent: path, name: undefined };
  const place = await inside.open(parent, shown);
  try {
    const entry = name === undefined ? await rootEntry(place, directory.root) : await readEntry(place, name, path);
    if (name !== undefined && entry.kind === 'symlink') await checkLink(inside, place, name, shown);
    await place.confirm();
    return entry;
  } finally {
    await place.close();
  }
}

/** Throws `fs.path_not_found`, `fs.permission_denied`, `fs.path_escapes_session`. */
export async function statPath(directory: WorkDirectory, input: string): Promise<FileEntry> {
  const path = relativePath(input);
  const inside = await within(directory);
  const entry = await onPath(input, () => entryAt(directory, inside, path, input));
  if (entry.kind !== 'file') return entry;
  const { mime = PLAIN, languageId } = fileType(entry.name) ?? {};
  return { ...entry, mime, ...(languageId === undefined ? {} : { language_id: languageId }) };
}

/** Paths read concurrently. */
const WIDTH = 16;

/**
 * Returns the entries by the paths as sent; null for missing or unreadable ones. Throws the error of the first refused
 * path: `validation.failed`, `fs.path_escapes_session`.
 */
export async function statPaths(
  directory: WorkDirectory,
  inputs: readonly string[],
): Promise<Record<string, FileEntry | null>> {
  const inside = await within(directory);
  let refused: { index: number; error: ServiceError } | undefined;
  const entries = await mapLimit(inputs, WIDTH, async (input, index): Promise<[string, FileEntry | null]> => {
    if (refused && refused.index < index) return [input, null];
    try {
      return [input, await entryAt(directory, inside, relativePath(input, `paths.${index}`), input)];
    } catch (thrown) {
      const error = errorCode(thrown) === 'ENAMETOOLONG' ? pathError(thrown, input, `paths.${index}`) : thrown;
      if (error instanceof ServiceError && !(refused && refused.index < index)) refused = { index, error };
      return [input, null];
    }
  });
  if (refused) throw refused.error;
  return Object.fromEntries(entries);
}
