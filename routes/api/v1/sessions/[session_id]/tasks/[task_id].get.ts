import * as z from 'zod';
import { readTask, taskNotFound } from '#server/features/tasks/rest.ts';
import { sessionTaskSchema } from '#schema/rest/task.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
import { queryBoolean, queryInteger } from '#utils/query.ts';

const OUTPUT_BYTES = 32_768;

export default defineEndpoint({
  summary: 'Read a task, with the end of its output on request',
  tag: 'tasks',
  params: pathParams('session_id', 'task_id'),
  query: z.object({
    with_output: queryBoolean().default(false),
    output_bytes: queryInteger({ min: 0 }).default(OUTPUT_BYTES),
  }),
  data: sessionTaskSchema,
  errors: ['session.not_found', 'task.not_found'],
  handler: async ({ params: { session_id, task_id }, query, app }) => {
    const bytes = query.with_output ? query.output_bytes : undefined;
    const task = await app.sessions.ifLoaded(session_id, ({ context }) => readTask(context, task_id, bytes));
    if (!task) throw taskNotFound(session_id, task_id);
    return task;
  },
});
