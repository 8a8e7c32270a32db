/** Project settings that are ignored because the user has not trusted their directory. */
import type { SessionWarning } from '#schema/rest/session.ts';

export interface IgnoredConfig {
  /** Absolute path of the file. */
  path: string;
  /** Absolute path of the directory that has to be trusted for the file to apply. */
  directory: string;
  reason: 'untrusted' | 'owner';
}

const REASONS = {
  untrusted: (directory: string) => `${directory} is not trusted`,
  owner: () => 'it belongs to another user',
};

/** The warning that clients display. */
export const ignoredConfigWarning = ({ path, directory, reason }: IgnoredConfig): SessionWarning => ({
  code: 'project-config-ignored',
  message: `${path} has no effect: ${REASONS[reason](directory)}.`,
  severity: 'warning',
  directory,
});
