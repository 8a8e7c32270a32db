/** Numbers and ids that are never given twice, and the cron table. */
import type { CronJob } from '../records.ts';
import type { Stored } from '../texts.ts';
import type { Projection } from './projection.ts';

export interface AgentCounters {
  /** One above the highest of `turn.started` and `turn.skipped`. */
  nextTurnId: number;
  toolCallIds: Set<string>;
}

/** A job of the cron table. */
export type KnownCronJob = Stored<CronJob> & {
  /** The newest of its times that is done with, ms. */
  lastFiredAt?: number;
};

export interface CountersState {
  /** Every agent that ever lived in the session. */
  agents: Map<string, AgentCounters>;
  /** Hashes of `agent.tools` and `mcp.tools` already written. */
  toolHashes: Set<string>;
  /** Highest n of the agents `agent-<n>`; -1 without any. */
  highestAgent: number;
  /** By id, in the order of their making. */
  cron: Map<string, KnownCronJob>;
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

function fired(state: CountersState, id: string, lastFiredAt: number): void {
  const job = state.cron.get(id);
  if (job) job.lastFiredAt = lastFiredAt;
}

export const countersProjection: Projection<CountersState> = {
  initial: () => ({ agents: new Map(), toolHashes: new Set(), highestAgent: -1, cron: new Map() }),
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
      case 'cron.added':
        state.cron.set(record.job.id, { ...record.job });
        break;
      case 'cron.deleted':
        state.cron.delete(record.id);
        break;
      case 'cron.cursor':
        fired(state, record.id, record.lastFiredAt);
        break;
      case 'cron.fired':
        if (record.x) fired(state, record.origin.jobId, record.x.lastFiredAt);
        break;
    }
  },
};
