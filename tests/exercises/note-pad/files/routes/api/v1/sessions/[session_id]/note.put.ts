import { writeNote } from '#server/features/note-pad/rest.ts';
import { noteSchema } from '#schema/rest/note.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Replace the note of a session',
  tag: 'notes',
  params: pathParams('session_id'),
  body: noteSchema,
  data: noteSchema,
  errors: ['session.not_found', 'session.busy', 'persistence.failure'],
  handler: ({ params, body, app }) => app.sessions.use(params.session_id, ({ context }) => writeNote(context, body)),
});
