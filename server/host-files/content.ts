/** Opening any file of this machine for a client that wants its bytes. */
import { realpath, stat } from 'node:fs/promises';
import { invalidField } from '#server/errors/service-error.ts';
import { openedFile, type OpenedFile } from '#server/files/opened-file.ts';
import { openRegular } from '#server/files/open-regular.ts';
import { onPath, pathIsDirectory } from '#server/files/path-error.ts';
import { assertAbsolute } from './host-path.ts';

/** Links are followed. Throws 40001 for what is neither file nor directory, 40409, 40411, 40906. */
export async function openHostFile(path: string): Promise<OpenedFile> {
  assertAbsolute(path);
  return onPath(path, async () => {
    const real = await realpath(path);
    const stats = await stat(real);
    if (stats.isDirectory()) throw pathIsDirectory(path);
    // To open a device can do something to it.
    const file = stats.isFile() ? await openRegular(real) : undefined;
    if (!file) throw invalidField('path', `path is not a regular file: ${path}`);
    return openedFile(file, real);
  });
}
