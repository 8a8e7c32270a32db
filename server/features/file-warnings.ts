/** Warnings about files, recorded for the main agent: each after every change of its file. */
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import { event } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { SessionWarning } from '#schema/rest/session.ts';

/** Minimum time between two checks of a session, in ms. */
const MAX_AGE_MS = 1000;

export interface FileWarnings {
  /** Reads the present warnings; an unchanged file has the same object. */
  check(): Promise<readonly SessionWarning[]>;
  /** The kind of files checked, for the log. */
  name: string;
}

/**
 * Returns a function for the start of a turn, which records the warnings that the last check did not have. It checks in
 * the background, at most once a second: no step waits for it.
 */
export function createFileWarnings(session: SessionContext, { check, name }: FileWarnings) {
  const { log, clock } = session;
  let reported: readonly SessionWarning[] = [];
  let checkedAt = -Infinity;

  async function report({ id }: AgentContext): Promise<void> {
    const warnings = await check();
    // Another process that runs the session reports them itself.
    if (log.readOnly || !log.claimed) return;
    const fresh = warnings.filter((warning) => !reported.includes(warning));
    reported = warnings;
    if (fresh.length > 0) log.append(fresh.map(({ message, code }) => event(id, 'warning', { message, code })));
  }

  return (agent: AgentContext): undefined => {
    if (agent.id !== MAIN_AGENT || clock.now() - checkedAt < MAX_AGE_MS) return;
    checkedAt = clock.now();
    report(agent).catch((error: unknown) => session.report(`${name} could not be checked`, error));
  };
}
