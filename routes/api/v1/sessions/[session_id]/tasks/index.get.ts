import * as z from 'zod';
import { taskList } from '#server/features/tasks/rest.ts';
import { sessionTaskSchema, taskStatusSchema } from '#schema/rest/task.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'List the tasks of the main agent; empty for a session that is not loaded',
  tag: 'tasks',
  tagDescription: 'Background tasks',
  params: pathParams('session_id'),
  query: z.object({ status: taskStatusSchema.optional() }),
  data: z.object({ items: z.array(sessionTaskSchema) }),
  errors: ['session.not_found'],
  handler: async ({ params, query, app }) => ({
    items: (await app.sessions.ifLoaded(params.session_id, ({ context }) => taskList(context, query.status))) ?? [],
  }),
});
