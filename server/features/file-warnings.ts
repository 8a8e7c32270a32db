/** Warnings about files that a main agent's events report: each after every change of its file. */
import type { AgentContext } from '#server/agent/contract/context.ts';
import { event } from '#server/journal/records.ts';
import type { SessionWarning } from '#schema/rest/session.ts';

/**
 * Returns a function that records those warnings which the last call did not have. Nothing is recorded in a session that
 * another process runs.
 */
export function createFileWarnings(isSame: (one: SessionWarning, other: SessionWarning) => boolean) {
  let reported: readonly SessionWarning[] = [];
  return ({ id, log }: AgentContext, warnings: readonly SessionWarning[]): void => {
    const fresh = warnings.filter((warning) => !reported.some((known) => isSame(known, warning)));
    reported = warnings;
    if (fresh.length === 0 || log.readOnly || !log.claimed) return;
    log.append(fresh.map(({ message, code }) => event(id, 'warning', { message, code })));
  };
}
