import { sessionBatchBody, sessionBatchSchema } from '#schema/rest/session-batch.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Archive sessions',
  description: 'Succeeds with a result for each distinct id. Continues after the client has disconnected.',
  tag: 'v2-sessions',
  body: sessionBatchBody,
  data: sessionBatchSchema,
  large: true,
  handler: ({ body, app }) => app.sessions.archiveMany(body.ids),
});
