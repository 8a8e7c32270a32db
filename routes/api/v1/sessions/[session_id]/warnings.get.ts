import * as z from 'zod';
import { warningSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Warnings about the session, such as oversized instruction files',
  tag: 'sessions',
  params: pathParams('session_id'),
  data: z.object({ warnings: z.array(warningSchema) }),
  errors: ['session.not_found'],
  handler: async ({ params, app }) => ({ warnings: (await app.sessions.read(params.session_id)).warnings() }),
});
