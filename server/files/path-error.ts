/** What a failed call of the system means to the client whose path it was about. */
import { ServiceError, invalidField } from '#server/errors/service-error.ts';
import { errorCode } from './errno.ts';

export const pathNotFound = (shown: string) => new ServiceError('fs.path_not_found', `path not found: ${shown}`);

export const pathIsDirectory = (shown: string) => new ServiceError('fs.is_directory', `path is a directory: ${shown}`);

/**
 * The failure to answer with: a missing path and one through a loop of links is 40409, one that is too long 40001 at
 * `field`, a forbidden one 40411, one that is there already 40919, a directory in place of a file 40906, anything else
 * 50001. What has a code already keeps it.
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

/** Runs the work on a path; its failures become those of `pathError`. */
export async function onPath<Result>(shown: string, work: () => Promise<Result>, field = 'path'): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw pathError(error, shown, field);
  }
}
