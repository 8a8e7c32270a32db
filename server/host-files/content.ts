/** Opens any file of this machine for a download. */
import { realpath, stat } from 'node:fs/promises';
import { invalidField } from '#server/errors/service-error.ts';
import { openedFile, type OpenedFile } from '#server/files/opened-file.ts';
import { openRegular } from '#server/files/open-regular.ts';
import { onPath, pathIsDirectory } from '#server/files/path-error.ts';
import { assertAbsolute } from './host-path.ts';

/** Follows links. Throws the errors of `onPath`, `validation.failed` for a special file, `fs.is_directory`. */
export async function openHostFile(path: string): Promise<OpenedFile> {
  assertAbsolute(path);
  return onPath(path, async () => {
    const real = await realpath(path);
    const stats = await stat(real);
    if (stats.isDirectory()) throw pathIsDirectory(path);
    // Opening a device can have side effects.
    const file = stats.isFile() ? await openRegular(real) : undefined;
    if (!file) throw invalidField('path', `path is not a regular file: ${path}`);
    return openedFile(file, real);
  });
}
