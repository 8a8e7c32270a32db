/** The note of a session. */
import { noteSchema } from '../rest/note.ts';

export const noteEvents = {
  'note.updated': noteSchema,
};
