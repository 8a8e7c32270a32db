import { z } from 'zod';
import { compaction } from '#server/features/compaction/compaction.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Put a summary in place of the conversation of the main agent; `compaction.*` events tell how it goes on',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: z.object({ instruction: z.string().optional().describe('What matters most in the summary; blank is none') }),
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
