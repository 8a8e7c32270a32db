/** The exit codes of a run, by the reason of its end. */
export const EXIT_CODES = {
  completed: 0,
  failed: 1,
  blocked: 1,
  bad_use: 2,
  denied: 3,
  unreachable: 4,
  timeout: 124,
  interrupted: 130,
} as const;

export type EndReason = keyof typeof EXIT_CODES;

/** A failure that ends the run before or without a turn. */
export class RunError extends Error {
  override readonly name = 'RunError';
  readonly reason: EndReason;

  constructor(reason: EndReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
