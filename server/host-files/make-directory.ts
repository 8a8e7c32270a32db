import { mkdir } from 'node:fs/promises';
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/files/errno.ts';
import { onPath } from '#server/files/path-error.ts';
import { assertAbsolute } from './host-path.ts';

/** Makes one directory anywhere on this machine. Throws 40001, 40409 of a missing parent, 40411, 40919. */
export async function makeHostDirectory(path: string): Promise<void> {
  assertAbsolute(path);
  await onPath(path, async () => {
    try {
      await mkdir(path);
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) throw error;
      throw new ServiceError('fs.path_not_found', `parent path not found: ${path}`);
    }
  });
}
