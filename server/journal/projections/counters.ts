/** Numbers and ids that are never given twice. */
import type { Projection } from './projection.ts';

export interface AgentCounters {
  /** One above the highest of `turn.started` and `turn.skipped`. */
  nextTurnId: number;
  toolCallIds: Set<string>;
}

export interface CountersState {
  /** All agents that were ever created in the session. */
  agents: Map<string, AgentCounters>;
  /** Hashes of `agent.tools` and `mcp.tools` already written. */
  toolHashes: Set<string>;
  /** Highest n of the agents `agent-<n>`; -1 without any. */
  highestAgent: number;
}

/** The agent's counters; zeros for an agent that has none yet. */
export function countersOf(state: CountersState, agent: string): AgentCounters {
  return state.agents.get(agent) ?? { nextTurnId: 0, toolCallIds: new Set() };
}

function keep(state: CountersState, agent: string): AgentCounters {
  let own = state.agents.get(agent);
  if (!own) state.agents.set(agent, (own = countersOf(state, agent)));
  return own;
}

export const countersProjection: Projection<CountersState> = {
  initial: () => ({ agents: new Map(), toolHashes: new Set(), highestAgent: -1 }),
  apply(state, record) {
    switch (record.type) {
      case 'agent.created': {
        keep(state, record.agent);
        const number = /^agent-(\d+)$/.exec(record.agent)?.[1];
        if (number !== undefined) state.highestAgent = Math.max(state.highestAgent, Number(number));
        break;
      }
      case 'turn.started':
      case 'turn.skipped': {
        const own = keep(state, record.agent);
        own.nextTurnId = Math.max(own.nextTurnId, record.turnId + 1);
        break;
      }
      case 'step.response': {
        const { toolCallIds } = keep(state, record.agent);
        for (const call of record.calls) toolCallIds.add(call.id);
        break;
      }
      case 'context.spliced': {
        if (record.x?.copyOf === undefined) break;
        const { toolCallIds } = keep(state, record.agent);
        for (const id of countersOf(state, record.x.copyOf).toolCallIds) toolCallIds.add(id);
        break;
      }
      case 'agent.tools':
        state.toolHashes.add(record.sha256);
        break;
      case 'mcp.tools':
        state.toolHashes.add(record.hash);
        break;
    }
  },
};
