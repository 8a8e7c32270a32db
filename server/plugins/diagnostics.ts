/** Findings about a plugin's files. */

export type Severity = 'error' | 'warn' | 'info';

export interface Diagnostic {
  /** With an `error` the plugin contributes nothing; with a `warn` the named item is dropped. */
  severity: Severity;
  message: string;
  /** Absolute path of the file. */
  path: string;
}

export const isError = ({ severity }: Diagnostic): boolean => severity === 'error';

/** Adds a finding about the file that is being read. */
export type Report = (severity: Severity, message: string) => void;
