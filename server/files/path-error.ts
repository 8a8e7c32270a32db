/** Maps system errors of a client's path to service errors. */
import { ServiceError, invalidField } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';

export const pathNotFound = (shown: string) => new ServiceError('fs.path_not_found', `path not found: ${shown}`);

export const pathIsDirectory = (shown: string) => new ServiceError('fs.is_directory', `path is a directory: ${shown}`);

/**
 * Maps a system error: a missing path and a loop of links to `fs.path_not_found`, a too long path to
 * `validation.failed` at `field`, others to `fs.permission_denied`, `fs.already_exists`, `fs.is_directory` or
 * `internal.error`. A `ServiceError` and an error without a code are returned unchanged.
 */
export function pathError(error: unknown, shown: string, field = 'path'): unknown {
  if (error instanceof ServiceError) return error;
  switch (errorCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
      return pathNotFound(shown);
    case 'ENAMETOOLONG':
      return invalidField(field, 'path is too long');
    case 'EACCES':
    case 'EPERM':
      return new ServiceError('fs.permission_denied', `permission denied: ${shown}`, { cause: error });
    case 'EEXIST':
      return new ServiceError('fs.already_exists', `path already exists: ${shown}`);
    case 'EISDIR':
      return pathIsDirectory(shown);
    case undefined:
      return error;
    default:
      return new ServiceError('internal.error', `the system refuses this path: ${shown}`, { cause: error });
  }
}

/** Runs `work` and maps its errors with `pathError`. */
export async function onPath<Result>(shown: string, work: () => Promise<Result>, field = 'path'): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw pathError(error, shown, field);
  }
}
