import * as z from 'zod';
import { undoTurns } from '#server/agent/undo/undo.ts';
import { promptText } from '#server/sessions/index/prompt-text.ts';
import { messageSchema } from '#schema/rest/message.ts';
import { statusSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
import { PAGE_SIZE_MAX } from '#utils/query.ts';

export default defineEndpoint({
  summary: 'Undo the last turns of the conversation; their effects on files and tasks remain',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: z.object({
    count: z.int().min(1).optional(),
    page_size: z.int().min(1).max(PAGE_SIZE_MAX).optional(),
  }),
  bodyRequired: false,
  data: z.object({
    messages: z.object({ items: z.array(messageSchema), has_more: z.boolean() }),
    status: statusSchema,
  }),
  errors: ['session.not_found', 'session.busy', 'session.undo_unavailable', 'persistence.failure'],
  load: ({ params, app }) => app.sessions.assertExists(params.session_id),
  handler: ({ params: { session_id }, body, app }) =>
    app.sessions.use(session_id, async ({ context }) => {
      await undoTurns(context, body?.count ?? 1, promptText);
      const { contextMessages, status } = await app.sessions.read(session_id);
      // As of one moment: nothing is awaited between the two.
      const [messages, rollup] = [contextMessages(body?.page_size), status()];
      return { messages: await messages, status: rollup };
    }),
});
