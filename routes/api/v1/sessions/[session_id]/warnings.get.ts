import { z } from 'zod';
import { warningSchema } from '#schema/session.ts';
import { useApp } from '#utils/app.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Warnings about the session, such as oversized instruction files',
  tag: 'sessions',
  params: pathParams('session_id'),
  data: z.object({ warnings: z.array(warningSchema) }),
  errors: ['session.not_found'],
  handler: async ({ params }) => ({ warnings: (await useApp().sessions.open(params.session_id)).warnings() }),
});
