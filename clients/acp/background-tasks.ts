/** Tasks of a session that run in the background of its turns. */
import { ApiError, type Rest } from '@service-code/client';

/** `task.not_found` and `task.already_finished`: it has ended meanwhile. */
const ENDED = [40406, 40904];

/** Cancels all tasks of the session that run; resolves to whether there were any. */
export async function cancelTasks(rest: Rest, session_id: string): Promise<boolean> {
  const query = { status: 'running' } as const;
  const { items } = await rest.request('GET /api/v1/sessions/{session_id}/tasks', { path: { session_id }, query });
  await Promise.all(
    items.map(async ({ id: task_id }) => {
      const path = { session_id, task_id };
      await rest
        .request('POST /api/v1/sessions/{session_id}/tasks/{task_id}:cancel', { path })
        .catch((error: unknown) => {
          if (!(error instanceof ApiError) || !ENDED.includes(error.code)) throw error;
        });
    }),
  );
  return items.length > 0;
}
