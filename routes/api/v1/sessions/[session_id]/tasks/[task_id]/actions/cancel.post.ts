import * as z from 'zod';
import { cancelTask, taskNotFound } from '#server/features/tasks/rest.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Stop a running task and wait for its end',
  tag: 'tasks',
  operationId: 'cancelTask',
  params: pathParams('session_id', 'task_id'),
  data: z.object({ cancelled: z.literal(true) }),
  errors: ['session.not_found', 'task.not_found', 'task.already_finished'],
  handler: async ({ params: { session_id, task_id }, app }) => {
    const cancelled = await app.sessions.ifLoaded(session_id, async ({ context }) => {
      await cancelTask(context, task_id);
      return { cancelled: true as const };
    });
    if (!cancelled) throw taskNotFound(session_id, task_id);
    return cancelled;
  },
});
