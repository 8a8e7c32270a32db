import * as z from 'zod';
import { terminalsMounted } from '#server/terminals/terminals.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'End a terminal and its program',
  tag: 'terminals',
  operationId: 'closeTerminal',
  mounted: terminalsMounted,
  params: pathParams('session_id', 'terminal_id'),
  data: z.object({ closed: z.literal(true) }),
  errors: ['session.not_found', 'terminal.not_found', 'runtime.unavailable'],
  handler: ({ params: { session_id, terminal_id }, app }) =>
    app.sessions.use(session_id, async () => {
      await app.terminals.close(session_id, terminal_id);
      return { closed: true as const };
    }),
});
