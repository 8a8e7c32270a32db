import * as z from 'zod';
import { detachTask, taskNotFound } from '#server/features/tasks/rest.ts';
import { taskStatusSchema } from '#schema/rest/task.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Move a task that a call waits for to the background',
  tag: 'tasks',
  operationId: 'detachTask',
  params: pathParams('session_id', 'task_id'),
  data: z.object({ detached: z.boolean(), status: taskStatusSchema }),
  errors: ['session.not_found', 'task.not_found'],
  handler: async ({ params: { session_id, task_id }, app }) => {
    const detached = await app.sessions.ifLoaded(session_id, ({ context }) => detachTask(context, task_id));
    if (!detached) throw taskNotFound(session_id, task_id);
    return detached;
  },
});
