import * as z from 'zod';
import { compaction } from '#server/features/compaction/compaction.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Compact the conversation of the main agent to a summary; `compaction.*` events report the progress',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: z.object({
    instruction: z.string().optional().describe('The most important points for the summary; ignored if blank'),
  }),
  bodyRequired: false,
  data: z.object({}),
  errors: ['session.not_found', 'session.busy', 'compaction.unable', 'persistence.failure'],
  load: ({ params, app }) => app.sessions.assertExists(params.session_id),
  handler: ({ params, body, app }) =>
    app.sessions.use(params.session_id, async ({ context }) => {
      await context.log.claim();
      context.feature(compaction).start(body?.instruction?.trim() || undefined);
      return {};
    }),
});
