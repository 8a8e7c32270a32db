import { messageSchema } from '#schema/rest/message.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Read one message',
  tag: 'messages',
  params: pathParams('session_id', 'message_id'),
  data: messageSchema,
  errors: ['session.not_found', 'message.not_found'],
  handler: async ({ params, app }) => (await app.sessions.read(params.session_id)).message(params.message_id),
});
