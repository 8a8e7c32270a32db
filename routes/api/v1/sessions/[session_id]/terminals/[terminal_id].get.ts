import { terminalsMounted } from '#server/terminals/terminals.ts';
import { terminalSchema } from '#schema/rest/terminal.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Read a terminal',
  tag: 'terminals',
  mounted: terminalsMounted,
  params: pathParams('session_id', 'terminal_id'),
  data: terminalSchema,
  errors: ['session.not_found', 'terminal.not_found', 'runtime.unavailable'],
  handler: ({ params: { session_id, terminal_id }, app }) =>
    app.sessions.use(session_id, () => app.terminals.get(session_id, terminal_id)),
});
