/** SessionStart, SessionHeartbeat and SessionEnd: from the main agent's first use in this process to the unload. */
import type { SessionContext } from '#server/agent/contract/context.ts';
import type { UnloadReason } from '#server/agent/contract/feature.ts';
import type { Hooks } from '#server/hooks/hooks.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { HookRuns } from './hook-runs.ts';

export const HEARTBEAT_MS = 60_000;

export interface SessionLife {
  /** Starts the session's life at the main agent's first use; with the model and profile that it is bound to. */
  begin(agent: { model: string | undefined; profile: string | undefined }): void;
  /** SessionStart hooks are still running. */
  readonly beginning: boolean;
  /** Resolves when they have exited or the signal fires. */
  begun(signal: AbortSignal): Promise<void>;
  /** Starts the heartbeat if hooks for it have been configured meanwhile. */
  beat(): void;
  /** Runs the SessionEnd hooks if the life has started. */
  end(reason: UnloadReason): Promise<void>;
}

/** Creates it; runs nothing until called. */
export function createSessionLife(session: SessionContext, hooks: Hooks, runs: HookRuns): SessionLife {
  const { log, clock } = session;
  const ended = new AbortController();
  let since: number | undefined;
  let beginning: Promise<unknown> | undefined;
  let callOffHeartbeat: (() => void) | undefined;

  /** Runs no timer while no hook matches the heartbeat. */
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
      // A new session has no record of the main agent yet.
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
      const matcher = reason === 'archive' ? 'archive' : 'exit';
      if (since === undefined || !hooks.wanted('SessionEnd', matcher)) return;
      await runs.ask('SessionEnd', matcher, { reason: matcher }, new AbortController().signal);
    },
  };
}
