import { noteOf } from '#server/features/note-pad/rest.ts';
import { noteSchema } from '#schema/rest/note.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Read the note of a session',
  tag: 'notes',
  tagDescription: 'The note of a session',
  params: pathParams('session_id'),
  data: noteSchema,
  errors: ['session.not_found'],
  handler: async ({ params, app }) => noteOf((await app.sessions.read(params.session_id)).state),
});
