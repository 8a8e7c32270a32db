/** Opens a file of a work directory for a download. */
import { openedFile, type OpenedFile } from '#server/files/opened-file.ts';
import { within } from '#server/files/open-within.ts';
import { onPath } from '#server/files/path-error.ts';
import { relativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import { openFileOf } from './read.ts';

/** Throws `fs.path_not_found`, `fs.permission_denied`, `fs.is_directory`, `fs.path_escapes_session`. */
export async function openDownload(directory: WorkDirectory, shown: string): Promise<OpenedFile> {
  const path = relativePath(shown);
  const inside = await within(directory);
  return onPath(shown, async () => {
    const place = await inside.open(path, shown);
    try {
      return await openedFile(await openFileOf(place, shown), path);
    } finally {
      await place.close();
    }
  });
}
