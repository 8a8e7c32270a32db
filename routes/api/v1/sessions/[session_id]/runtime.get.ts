import { z } from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Read which runtime the main agent works on',
  tag: 'sessions',
  params: pathParams('session_id'),
  data: z.object({ workspace_id: z.string(), runtime_id: z.string() }),
  errors: ['session.not_found'],
  handler: async ({ params, app }) => (await app.sessions.read(params.session_id)).runtime(),
});
