/** `agent.status.updated`: facts and phases of an agent, volatile. */
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Phase, StatusFacts } from '#schema/events/volatile.ts';

export interface StatusFrames {
  /** Sends the standing facts plus what changed; equal consecutive frames are left out. */
  facts(changed?: StatusFacts): void;
  phase(phase: Phase): void;
  /** The last one, once there was any. */
  lastPhase(): Phase | undefined;
}

/** `standing` is asked for model, context size and usage at each facts frame. */
export function createStatusFrames(log: SessionLog, agentId: string, standing: () => StatusFacts): StatusFrames {
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
