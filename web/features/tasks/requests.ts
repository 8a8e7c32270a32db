/** REST calls about tasks. */
import { ApiError, type Rest, type SessionTask } from '@service-code/client';

/** The task ended before it was stopped, or its session was unloaded. */
const GONE = [40406, 40904];

const pathOf = ({ session_id, id }: SessionTask) => ({ session_id, task_id: id });

export const listTasks = async (rest: Rest, session_id: string): Promise<SessionTask[]> =>
  (await rest.request('GET /api/v1/sessions/{session_id}/tasks', { path: { session_id } })).items;

/** The tail of its output. */
export async function readOutput(rest: Rest, task: SessionTask): Promise<string> {
  const read = await rest.request('GET /api/v1/sessions/{session_id}/tasks/{task_id}', {
    path: pathOf(task),
    query: { with_output: true },
  });
  return read.output_preview ?? '';
}

export async function cancelTask(rest: Rest, task: SessionTask): Promise<void> {
  try {
    await rest.request('POST /api/v1/sessions/{session_id}/tasks/{task_id}:cancel', { path: pathOf(task) });
  } catch (error) {
    if (!(error instanceof ApiError && GONE.includes(error.code))) throw error;
  }
}

/** Moves a task that a call waits for to the background. */
export const detachTask = (rest: Rest, task: SessionTask) =>
  rest.request('POST /api/v1/sessions/{session_id}/tasks/{task_id}:detach', { path: pathOf(task) });
