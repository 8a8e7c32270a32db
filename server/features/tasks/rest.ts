/** Client operations on the main agent's tasks in a loaded session. */
import type { SessionContext } from '#server/agent/contract/context.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import { iso } from '#schema/scalars.ts';
import type { SessionTask } from '#schema/rest/task.ts';
import { findTask, listedTasks, type ListedTask } from './listed-tasks.ts';

const kinds = { process: 'bash', agent: 'subagent', question: 'tool' } as const;
const statuses = {
  running: 'running',
  completed: 'completed',
  failed: 'failed',
  timed_out: 'failed',
  lost: 'failed',
  killed: 'cancelled',
} as const;

/** In start order, then those of earlier processes. */
export function taskList(session: SessionContext, status: SessionTask['status'] | undefined): SessionTask[] {
  const tasks = listedTasks(session, MAIN_AGENT).map(({ info }) => shown(session.id, info));
  return status === undefined ? tasks : tasks.filter((task) => task.status === status);
}

/** The task with at most `outputBytes` of its output. Throws `task.not_found`. */
export async function readTask(
  session: SessionContext,
  id: string,
  outputBytes: number | undefined,
): Promise<SessionTask> {
  const { info, output } = found(session, id);
  const task = shown(session.id, info);
  const preview = outputBytes === undefined ? undefined : await output(outputBytes);
  if (preview === undefined) return task;
  return { ...task, output_preview: preview, output_bytes: Buffer.byteLength(preview) };
}

/** Stops a running task or a lost one's process, and waits. Throws `task.not_found`, `task.already_finished`. */
export async function cancelTask(session: SessionContext, id: string): Promise<void> {
  const { info, endLost } = found(session, id);
  if (info.status !== 'running') {
    if (await endLost?.()) return;
    const status = statuses[info.status];
    throw new ServiceError('task.already_finished', `task ${id} already finished (status: ${status})`, {
      data: { cancelled: false },
      details: { current_status: status },
    });
  }
  await session.tasks.stop(id, { status: 'killed', by: 'user', reason: 'stopped by the user' });
}

/** Moves a foreground task to the background. Throws `task.not_found`, `persistence.failure`. */
export function detachTask(session: SessionContext, id: string) {
  const { info } = found(session, id);
  const detached = session.tasks.detach(id);
  return { detached, status: statuses[info.status] };
}

export const taskNotFound = (sessionId: string, id: string) =>
  new ServiceError('task.not_found', `task ${id} does not exist in session ${sessionId}`);

function found(session: SessionContext, id: string): ListedTask {
  const task = findTask(session, MAIN_AGENT, id);
  if (!task) throw taskNotFound(session.id, id);
  return task;
}

function shown(session_id: string, info: TaskInfo): SessionTask {
  const at = iso(info.startedAt);
  return {
    id: info.taskId,
    session_id,
    kind: kinds[info.kind],
    description: info.description,
    status: statuses[info.status],
    created_at: at,
    started_at: at,
    ...(info.endedAt === null ? {} : { completed_at: iso(info.endedAt) }),
    ...membersOf(info),
  };
}

function membersOf(info: TaskInfo): Partial<SessionTask> {
  if (info.kind === 'question') return {};
  const call = info.parentToolCallId === undefined ? {} : { parent_tool_call_id: info.parentToolCallId };
  if (info.kind === 'process') return { command: info.command, ...call };
  const { model, thinkingEffort, agentId, subagentType } = info;
  return {
    ...call,
    ...(model === undefined ? {} : { model }),
    ...(thinkingEffort === undefined ? {} : { thinking_effort: thinkingEffort }),
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(subagentType === undefined ? {} : { subagent_type: subagentType }),
  };
}
