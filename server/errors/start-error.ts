import { ServiceError, errorMessage } from './service-error.ts';

/** A startup failure that the user can fix: printed as one line on stderr, exit code 1. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

const isSystemError = (error: Error) => 'syscall' in error;

/** Text for an error that aborted the start: one sentence for errors that users can fix, a stack trace for defects. */
export function startFailureText(error: unknown): string {
  if (!(error instanceof Error)) return errorMessage(error);
  if (error instanceof StartError) return error.message;
  if (error instanceof ServiceError || isSystemError(error)) return `cannot start: ${error.message}`;
  return error.stack ?? error.message;
}
