/** Tasks of an agent, in addition to its timeline. */
import type { Task } from '#schema/rest/transcript.ts';
import type { AgentTranscript } from './agent-transcript.ts';
import type { StoredOp } from './reducer/state.ts';

/** Updates or creates a task; its start, and the state of an ended one, are not overwritten. */
export function taskOps(
  { state }: AgentTranscript,
  taskId: string,
  change: Partial<Task> & Pick<Task, 'kind'>,
): StoredOp[] {
  const known = state.tasks.get(taskId);
  const before = known ?? { taskId, state: 'running', detached: false, outputTail: '' };
  const began = known?.startedAt === undefined ? {} : { startedAt: known.startedAt };
  const ended = known && known.state !== 'running' ? { state: known.state } : {};
  return [{ op: 'task.upsert', task: { ...before, ...change, ...began, ...ended } }];
}
