/** A reason not to start that the user can mend: printed as one line on stderr, exit code 1. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
