/** REST calls about tasks. */
import { ApiError } from '../../client/errors.ts';
import type { Rest } from '../../client/rest.ts';
import type { SessionTask } from '../../client/types.ts';

/** The task ended before it was stopped, or its session was unloaded. */
const GONE = [40406, 40904];

const pathOf = (sessionId: string) => `sessions/${encodeURIComponent(sessionId)}/tasks`;
const taskPath = ({ session_id, id }: SessionTask) => `${pathOf(session_id)}/${encodeURIComponent(id)}`;

export const listTasks = async (rest: Rest, sessionId: string): Promise<SessionTask[]> =>
  (await rest.request<{ items: SessionTask[] }>('GET', pathOf(sessionId))).items;

/** The tail of its output. */
export async function readOutput(rest: Rest, task: SessionTask): Promise<string> {
  const read = await rest.request<SessionTask>('GET', taskPath(task), { query: { with_output: true } });
  return read.output_preview ?? '';
}

export async function cancelTask(rest: Rest, task: SessionTask): Promise<void> {
  try {
    await rest.request('POST', `${taskPath(task)}:cancel`);
  } catch (error) {
    if (!(error instanceof ApiError && GONE.includes(error.code))) throw error;
  }
}

/** Moves a task that a call waits for to the background. */
export const detachTask = (rest: Rest, task: SessionTask): Promise<{ detached: boolean }> =>
  rest.request('POST', `${taskPath(task)}:detach`);
