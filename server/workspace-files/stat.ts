/** The facts of paths. */
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/files/errno.ts';
import { fileType } from '#server/files/file-types.ts';
import { inBatches } from '#server/files/in-batches.ts';
import { parentOf, within, type Place, type Within } from '#server/files/open-within.ts';
import { onPath, pathError } from '#server/files/path-error.ts';
import { relativePath, type RelativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import type { FileEntry } from '#schema/file-entry.ts';
import { readEntry, rootEntry } from './entry.ts';

/** Type of a file whose name says nothing of it. */
const PLAIN = 'text/plain';

/** Throws 41304 when the link leads outside; one that leads nowhere passes. */
async function checkLink(inside: Within, parent: Place, name: string, shown: string): Promise<void> {
  try {
    await (await inside.openEntry(parent, name, shown)).close();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
  }
}

/** The entry of a path: a link is itself, but must not lead outside. Throws 41304 and the system's errors. */
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

/** Throws 40409, 40411, 41304. */
export async function statPath(directory: WorkDirectory, input: string): Promise<FileEntry> {
  const path = relativePath(input);
  const inside = await within(directory);
  const entry = await onPath(input, () => entryAt(directory, inside, path, input));
  if (entry.kind !== 'file') return entry;
  const { mime = PLAIN, languageId } = fileType(entry.name) ?? {};
  return { ...entry, mime, ...(languageId === undefined ? {} : { language_id: languageId }) };
}

/** Paths looked at side by side. */
const WIDTH = 16;

/**
 * By the paths as they were sent; null for what is missing or cannot be read. Throws what the first path says that is
 * refused: 40001, 41304.
 */
export async function statPaths(
  directory: WorkDirectory,
  inputs: readonly string[],
): Promise<Record<string, FileEntry | null>> {
  const inside = await within(directory);
  let refused: { index: number; error: ServiceError } | undefined;
  const entries = await inBatches(inputs, WIDTH, async (input, index): Promise<[string, FileEntry | null]> => {
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
