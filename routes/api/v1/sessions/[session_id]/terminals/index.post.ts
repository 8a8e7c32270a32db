import { terminalsMounted } from '#server/terminals/terminals.ts';
import { createTerminalSchema, terminalSchema } from '#schema/rest/terminal.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Start a terminal in the directory of a session',
  tag: 'terminals',
  mounted: terminalsMounted,
  params: pathParams('session_id'),
  body: createTerminalSchema,
  data: terminalSchema,
  errors: [
    'session.not_found',
    'fs.path_not_found',
    'runtime.not_found',
    'runtime.unavailable',
    'fs.path_escapes_session',
  ],
  handler: ({ params, body, app }) =>
    app.sessions.use(params.session_id, ({ context }) => {
      const { id, workspaceId, cwd, services } = context;
      const { additionalDirs } = services.reach(context);
      return app.terminals.create({ id, workspaceId, cwd, additionalDirs }, body);
    }),
});
