/** Subagents in the transcript of their caller: each run is a task, named by the call that began it. */
import type { EventRecord } from '#server/journal/records.ts';
import { toolOps, type AgentTranscript } from '#server/transcript/agent-transcript.ts';
import type { HeldOp, HeldState } from '#server/transcript/reducer/state.ts';
import type { TranscriptRows } from '#server/transcript/transcript-rows.ts';
import { iso } from '#schema/scalars.ts';

type HeldTask = HeldState['tasks'] extends Map<string, infer Task> ? Task : never;

function spawned(agent: AgentTranscript, record: EventRecord<'subagent.spawned'>, t: number): HeldOp[] {
  const { subagentId, parentToolCallId, description, runInBackground, taskId } = record;
  const id = taskId ?? subagentId;
  const known = agent.state.tasks.get(id);
  const task: HeldTask = {
    taskId: id,
    kind: 'subagent',
    state: 'running',
    outputTail: '',
    startedAt: iso(t),
    ...known,
    detached: known?.detached === true || runInBackground,
    ...(description === undefined ? {} : { description }),
    agentId: subagentId,
  };
  return [
    { op: 'task.upsert', task },
    ...toolOps(agent, parentToolCallId, {
      agentRefs: [{ agentId: subagentId, role: 'child' }],
      ...(taskId === undefined ? {} : { taskId }),
    }),
  ];
}

/** The newest run of the agent, if it goes on. */
function runOf({ state }: AgentTranscript, subagentId: string): HeldTask | undefined {
  const newest = [...state.tasks.values()].findLast(({ agentId }) => agentId === subagentId);
  return newest?.state === 'running' ? newest : undefined;
}

function suspended(agent: AgentTranscript, { subagentId, reason }: EventRecord<'subagent.suspended'>): HeldOp[] {
  const task = runOf(agent, subagentId);
  return task ? [{ op: 'task.upsert', task: { ...task, stateReason: reason } }] : [];
}

function completed(agent: AgentTranscript, record: EventRecord<'subagent.completed'>, t: number): HeldOp[] {
  const task = runOf(agent, record.subagentId);
  if (!task) return [];
  const { resultSummary, usage } = record;
  const end = { state: 'completed' as const, endedAt: iso(t), resultSummary, ...(usage ? { usage } : {}) };
  return [{ op: 'task.upsert', task: { ...task, ...end } }];
}

function failed(agent: AgentTranscript, { subagentId, error, x }: EventRecord<'subagent.failed'>, t: number): HeldOp[] {
  const task = runOf(agent, subagentId);
  if (!task) return [];
  // How a background task was stopped, its own end says.
  if (x?.aborted && task.detached) return [{ op: 'task.upsert', task: { ...task, error } }];
  const state = x?.aborted ? ('killed' as const) : ('failed' as const);
  return [{ op: 'task.upsert', task: { ...task, state, endedAt: iso(t), error } }];
}

export const subagentsTranscript: TranscriptRows = {
  'subagent.spawned': spawned,
  'subagent.suspended': suspended,
  'subagent.completed': completed,
  'subagent.failed': failed,
};
