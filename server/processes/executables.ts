/** Finds programs to run. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** True if the path is a file with execute permission. */
export async function isExecutable(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFile()) return false;
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * The first executable of that name in the folders of `path`, a PATH variable; undefined if there is none. Relative
 * folders are ignored: they would be resolved in the project in which a program is started.
 */
export async function findOnPath(name: string, path = ''): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (isAbsolute(folder) && (await isExecutable(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}
