/** The subagents that the main agent's newest turn waited for, since the session was last loaded. */
import { defineFeatureProjection } from '#server/journal/projections/feature-projection.ts';
import type { EventRecord, JournalRecord } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { iso } from '#schema/scalars.ts';
import type { SnapshotSubagent } from '#schema/rest/subagent.ts';

export type ForegroundRun = Omit<SnapshotSubagent, 'session_id'>;

export interface ForegroundRuns {
  /** Number of processes that have run the main agent. */
  lives: number;
  /** Subagents by agent id, in start order. */
  runs: Map<string, ForegroundRun>;
}

function spawned(state: ForegroundRuns, record: EventRecord<'subagent.spawned'>, t: number): void {
  const { agent, subagentId, subagentName, parentToolCallId, description, swarmIndex, model, thinkingEffort } = record;
  state.runs.delete(subagentId);
  if (agent !== MAIN_AGENT || record.runInBackground) return;
  state.runs.set(subagentId, {
    id: subagentId,
    kind: 'subagent',
    description: description || subagentName || 'Sub Agent',
    status: 'running',
    created_at: iso(t),
    agent_id: subagentId,
    ...(subagentName ? { subagent_type: subagentName } : {}),
    ...(parentToolCallId ? { parent_tool_call_id: parentToolCallId } : {}),
    ...(model === undefined ? {} : { model }),
    ...(thinkingEffort === undefined ? {} : { thinking_effort: thinkingEffort }),
    subagent_phase: 'queued',
    ...(swarmIndex === undefined ? {} : { swarm_index: swarmIndex }),
    run_in_background: false,
  });
}

function change(state: ForegroundRuns, id: string, changed: Partial<ForegroundRun>): void {
  const run = state.runs.get(id);
  if (run?.status === 'running') state.runs.set(id, { ...run, ...changed });
}

function end(state: ForegroundRuns, id: string, status: 'completed' | 'failed', preview: string, t: number): void {
  change(state, id, { status, subagent_phase: status, completed_at: iso(t), output_preview: preview });
}

function apply(state: ForegroundRuns, record: JournalRecord, t: number): void {
  switch (record.type) {
    case 'agent.created':
      if (record.agent !== MAIN_AGENT) break;
      state.lives += 1;
      state.runs.clear();
      break;
    case 'forked':
      state.runs.clear();
      break;
    case 'turn.started':
      if (record.agent === MAIN_AGENT) state.runs.clear();
      break;
    case 'turn.ended':
      if (record.agent !== MAIN_AGENT || record.reason === 'completed') break;
      for (const id of state.runs.keys()) end(state, id, 'failed', `Main turn ${record.reason}`, t);
      break;
    case 'subagent.spawned':
      spawned(state, record, t);
      break;
    case 'subagent.started':
      change(state, record.subagentId, {
        subagent_phase: 'working',
        started_at: state.runs.get(record.subagentId)?.started_at ?? iso(t),
      });
      break;
    case 'subagent.suspended':
      change(state, record.subagentId, { subagent_phase: 'suspended', suspended_reason: record.reason });
      break;
    case 'subagent.completed':
      end(state, record.subagentId, 'completed', record.resultSummary, t);
      break;
    case 'subagent.failed':
      end(state, record.subagentId, 'failed', record.error, t);
      break;
    case 'task.started':
      // Moved to the background: from this record on it is listed as a task.
      if (record.info.kind === 'agent' && record.info.agentId !== undefined) state.runs.delete(record.info.agentId);
      break;
  }
}

export const foregroundRuns = defineFeatureProjection<ForegroundRuns>({
  name: 'subagents',
  initial: () => ({ lives: 0, runs: new Map() }),
  apply,
});
