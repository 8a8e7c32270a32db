/** Settings that a project brings and that have no effect, because the user has not trusted their directory. */
import type { SessionWarning } from '#schema/session.ts';

export interface IgnoredConfig {
  /** The file, absolute. */
  path: string;
  /** The directory whose trust would make it count, absolute. */
  directory: string;
  reason: 'untrusted' | 'owner';
}

const REASONS = {
  untrusted: (directory: string) => `${directory} is not trusted`,
  owner: () => 'it belongs to another user',
};

/** The warning that clients show for it. */
export const ignoredConfigWarning = ({ path, directory, reason }: IgnoredConfig): SessionWarning => ({
  code: 'project-config-ignored',
  message: `${path} has no effect: ${REASONS[reason](directory)}.`,
  severity: 'warning',
  directory,
});
