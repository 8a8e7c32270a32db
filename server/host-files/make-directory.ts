import { mkdir } from 'node:fs/promises';
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { onPath } from '#server/files/path-error.ts';
import { assertAbsolute } from './host-path.ts';

/** Creates one directory. Throws the errors of `onPath`, `validation.failed`, and `fs.path_not_found` (parent). */
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
