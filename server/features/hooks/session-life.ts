/** A session's life as hooks see it: from the main agent's first use in this process to the session's unloading. */
import type { SessionContext } from '#server/agent/context.ts';
import type { UnloadReason } from '#server/agent/feature.ts';
import type { Hooks } from '#server/hooks/hooks.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { HookRuns } from './hook-runs.ts';

export const HEARTBEAT_MS = 60_000;

export interface SessionLife {
  /** The main agent is used for the first time; with what it is bound to, if anything. */
  begin(agent: { model: string | undefined; profile: string | undefined }): void;
  /** Hooks are still at work on its beginning. */
  readonly beginning: boolean;
  /** They are done, or nobody waits for them any more. */
  begun(signal: AbortSignal): Promise<void>;
  /** Begins to beat where hooks have come to want it since. */
  beat(): void;
  /** Runs what has to be told of the end, if it has begun. */
  end(reason: UnloadReason): Promise<void>;
}

/** Creates it; runs nothing. */
export function createSessionLife(session: SessionContext, hooks: Hooks, runs: HookRuns): SessionLife {
  const { log, clock } = session;
  const ended = new AbortController();
  let since: number | undefined;
  let beginning: Promise<unknown> | undefined;
  let callOffHeartbeat: (() => void) | undefined;

  /** No timer runs for a session whose heartbeat nobody wants. */
  function beat(): void {
    const begun = since;
    if (begun === undefined || callOffHeartbeat || !hooks.wanted('SessionHeartbeat')) return;
    callOffHeartbeat = clock.setTimeout(() => {
      callOffHeartbeat = undefined;
      const uptime_ms = clock.now() - begun;
      runs.tell(MAIN_AGENT, 'SessionHeartbeat', '', () => ({ match: '', fields: { uptime_ms } }));
      beat();
    }, HEARTBEAT_MS);
  }

  return {
    begin({ model, profile }) {
      since = clock.now();
      beat();
      runs.listen();
      // Its first life has no record of the agent yet.
      const source = log.state.status.agents.has(MAIN_AGENT) ? 'resume' : 'startup';
      if (!hooks.wanted('SessionStart', source)) return;
      beginning = runs
        .ask('SessionStart', source, { source, model, profile }, ended.signal)
        .finally(() => (beginning = undefined));
    },
    get beginning() {
      return beginning !== undefined;
    },
    async begun(signal) {
      if (!beginning) return;
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([beginning, aborted]);
    },
    beat,
    async end(reason) {
      callOffHeartbeat?.();
      if (beginning) ended.abort();
      await beginning;
      const told = reason === 'archive' ? 'archive' : 'exit';
      if (since === undefined || !hooks.wanted('SessionEnd', told)) return;
      await runs.ask('SessionEnd', told, { reason: told }, new AbortController().signal);
    },
  };
}
