/** Subagents in the transcript of their caller: each run is a task, attached to the call that started it. */
import type { EventRecord } from '#server/journal/records.ts';
import { findTool, toolOps, type AgentTranscript } from '#server/transcript/agent-transcript.ts';
import type { StoredOp, StoredState } from '#server/transcript/reducer/state.ts';
import type { RecordMappers } from '#server/transcript/transcript-rows.ts';
import { iso } from '#schema/scalars.ts';

type StoredTask = StoredState['tasks'] extends Map<string, infer Task> ? Task : never;

function spawned(agent: AgentTranscript, record: EventRecord<'subagent.spawned'>, t: number): StoredOp[] {
  const { subagentId, parentToolCallId, description, runInBackground, swarmIndex, taskId } = record;
  // Members of a swarm are no separate tasks: resuming one continues its row.
  const id = taskId ?? subagentId;
  const known = agent.state.tasks.get(id);
  const begun = known?.state === 'running' ? known : undefined;
  const task: StoredTask = {
    taskId: id,
    kind: 'subagent',
    state: 'running',
    outputTail: '',
    startedAt: iso(t),
    ...begun,
    detached: begun?.detached === true || runInBackground,
    ...(description === undefined ? {} : { description }),
    agentId: subagentId,
  };
  const refs = findTool(agent, parentToolCallId)?.frame.agentRefs ?? [];
  const ref = { agentId: subagentId, role: swarmIndex === undefined ? ('child' as const) : ('member' as const) };
  return [
    { op: 'task.upsert', task },
    ...toolOps(agent, parentToolCallId, {
      agentRefs: [...refs.filter(({ agentId }) => agentId !== subagentId), ref],
      ...(taskId === undefined ? {} : { taskId }),
    }),
  ];
}

/** The agent's running task, if it has one. */
function runOf({ state }: AgentTranscript, subagentId: string): StoredTask | undefined {
  return [...state.tasks.values()].findLast((task) => task.agentId === subagentId && task.state === 'running');
}

function suspended(agent: AgentTranscript, { subagentId, reason }: EventRecord<'subagent.suspended'>): StoredOp[] {
  const task = runOf(agent, subagentId);
  return task ? [{ op: 'task.upsert', task: { ...task, stateReason: reason } }] : [];
}

function completed(agent: AgentTranscript, record: EventRecord<'subagent.completed'>, t: number): StoredOp[] {
  const task = runOf(agent, record.subagentId);
  if (!task) return [];
  const { resultSummary, usage } = record;
  const end = { state: 'completed' as const, endedAt: iso(t), resultSummary, ...(usage ? { usage } : {}) };
  return [{ op: 'task.upsert', task: { ...task, ...end } }];
}

function failed(
  agent: AgentTranscript,
  { subagentId, error, x }: EventRecord<'subagent.failed'>,
  t: number,
): StoredOp[] {
  const task = runOf(agent, subagentId);
  if (!task) return [];
  // The end of a background task records how it was stopped.
  if (x?.aborted && task.detached) return [{ op: 'task.upsert', task: { ...task, error } }];
  const state = x?.aborted ? ('killed' as const) : ('failed' as const);
  return [{ op: 'task.upsert', task: { ...task, state, endedAt: iso(t), error } }];
}

export const subagentsTranscript: RecordMappers = {
  'subagent.spawned': spawned,
  'subagent.suspended': suspended,
  'subagent.completed': completed,
  'subagent.failed': failed,
};
