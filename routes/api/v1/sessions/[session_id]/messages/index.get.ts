import * as z from 'zod';
import { messageSchema } from '#schema/rest/message.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
import { cursorQuery } from '#utils/query.ts';

export default defineEndpoint({
  summary: 'Page through the messages of the main agent, newest first',
  tag: 'messages',
  tagDescription: 'Messages of a session',
  params: pathParams('session_id'),
  query: cursorQuery({ role: z.enum(['user', 'assistant', 'tool', 'system']).optional() }),
  data: z.object({ items: z.array(messageSchema), has_more: z.boolean() }),
  errors: ['session.not_found'],
  handler: async ({ params, query, app }) => (await app.sessions.read(params.session_id)).messages(query),
});
