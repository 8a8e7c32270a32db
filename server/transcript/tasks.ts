/** Tasks beside the timeline of the agent that they belong to. */
import type { Task } from '#schema/transcript.ts';
import type { AgentTranscript } from './agent-transcript.ts';
import type { HeldOp } from './reducer/state.ts';

/** Changes a task, making it when it is new; it keeps its beginning, and one that has ended its state. */
export function taskOps(
  { state }: AgentTranscript,
  taskId: string,
  change: Partial<Task> & Pick<Task, 'kind'>,
): HeldOp[] {
  const known = state.tasks.get(taskId);
  const before = known ?? { taskId, state: 'running', detached: false, outputTail: '' };
  const began = known?.startedAt === undefined ? {} : { startedAt: known.startedAt };
  const ended = known && known.state !== 'running' ? { state: known.state } : {};
  return [{ op: 'task.upsert', task: { ...before, ...change, ...began, ...ended } }];
}
