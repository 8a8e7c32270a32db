import * as z from 'zod';
import { terminalsMounted } from '#server/terminals/terminals.ts';
import { terminalSchema } from '#schema/rest/terminal.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'List the terminals of a session, running and exited, in the order of their start',
  tag: 'terminals',
  tagDescription: 'Terminals',
  mounted: terminalsMounted,
  params: pathParams('session_id'),
  data: z.object({ items: z.array(terminalSchema) }),
  errors: ['session.not_found', 'runtime.unavailable'],
  handler: ({ params: { session_id }, app }) =>
    app.sessions.use(session_id, async () => ({ items: await app.terminals.list(session_id) })),
});
