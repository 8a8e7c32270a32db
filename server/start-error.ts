import { ServiceError, errorMessage } from '#server/errors/service-error.ts';

/** A reason not to start that the user can mend: printed as one line on stderr, exit code 1. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

const isSystemError = (error: Error) => 'syscall' in error;

/** The text for people about an error that ended the start: one sentence for what they can mend, a stack for a defect. */
export function startFailureText(error: unknown): string {
  if (!(error instanceof Error)) return errorMessage(error);
  if (error instanceof StartError) return error.message;
  if (error instanceof ServiceError || isSystemError(error)) return `cannot start: ${error.message}`;
  return error.stack ?? error.message;
}
