/** The error `persistence.failure` of a session, as clients receive it. */
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';

/** The reason without the paths that messages of the file system carry. */
export const reasonOf = (error: unknown): string => errorCode(error) ?? errorMessage(error);

export const unwritable = (id: string, error: unknown): ServiceError =>
  new ServiceError('persistence.failure', `session ${id} cannot be written: ${reasonOf(error)}`, { cause: error });
