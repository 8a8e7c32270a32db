import { z } from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Read the goal of the main agent',
  tag: 'sessions',
  params: pathParams('session_id'),
  // No endpoint and no tool sets a goal, so there is none.
  data: z.null(),
  errors: ['session.not_found'],
  handler: async ({ params, app }) => {
    await app.sessions.read(params.session_id);
    return null;
  },
});
