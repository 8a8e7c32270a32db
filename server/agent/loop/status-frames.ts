/** Publishes `agent.status.updated`, volatile: facts and phases of an agent. */
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Phase, StatusFields } from '#schema/events/volatile.ts';

export interface StatusFrames {
  /** Publishes the standing facts plus the changed ones; a frame that equals the previous one is omitted. */
  facts(changed?: StatusFields): void;
  phase(phase: Phase): void;
  /** The last published phase; undefined before the first. */
  lastPhase(): Phase | undefined;
}

/** `standing` returns model, context size and usage; it is called for each facts frame. */
export function createStatusFrames(log: SessionLog, agentId: string, standing: () => StatusFields): StatusFrames {
  let last = '';
  let lastPhase: Phase | undefined;
  return {
    facts(changed = {}) {
      const facts = { ...standing(), ...changed };
      const text = JSON.stringify(facts);
      if (text === last) return;
      last = text;
      log.volatile(agentId, 'agent.status.updated', facts);
    },
    phase(phase) {
      lastPhase = phase;
      log.volatile(agentId, 'agent.status.updated', { phase }, { transport: true });
    },
    lastPhase: () => lastPhase,
  };
}
