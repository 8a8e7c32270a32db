/** Background tasks in the transcript of their agent. */
import type { EventRecord } from '#server/journal/records.ts';
import { toolOps, type AgentTranscript } from '#server/transcript/agent-transcript.ts';
import type { StoredOp } from '#server/transcript/reducer/state.ts';
import { taskOps } from '#server/transcript/tasks.ts';
import type { RecordMappers } from '#server/transcript/transcript-rows.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import { iso } from '#schema/scalars.ts';
import type { Task } from '#schema/rest/transcript.ts';

const kinds = { process: 'shell', agent: 'subagent', question: 'other' } as const;

function facts(info: TaskInfo): Partial<Task> & Pick<Task, 'kind'> {
  return {
    kind: kinds[info.kind],
    detached: true,
    description: info.description,
    ...(info.kind === 'agent' && info.agentId !== undefined ? { agentId: info.agentId } : {}),
    startedAt: iso(info.startedAt),
  };
}

const callOf = (info: TaskInfo) => (info.kind === 'question' ? info.toolCallId : info.parentToolCallId);

function started(agent: AgentTranscript, { info }: EventRecord<'task.started'>, t: number): StoredOp[] {
  const { taskId } = info;
  const call = callOf(info);
  return [
    ...taskOps(agent, taskId, facts(info)),
    { op: 'taskref.upsert', item: { kind: 'taskref', refId: `ref-${taskId}`, taskId, at: iso(t) } },
    ...(call === undefined ? [] : toolOps(agent, call, { taskId })),
  ];
}

function terminated(agent: AgentTranscript, { info, x }: EventRecord<'task.terminated'>, t: number): StoredOp[] {
  const { taskId, status, endedAt } = info;
  // The end of a subagent is already recorded by `subagent.completed` or `subagent.failed`.
  const own = agent.state.tasks.get(taskId)?.endedAt;
  return taskOps(agent, taskId, {
    ...facts(info),
    state: status,
    endedAt: own ?? iso(endedAt ?? t),
    outputTail: x?.outputTail ?? '',
  });
}

export const tasksTranscript: RecordMappers = { 'task.started': started, 'task.terminated': terminated };
