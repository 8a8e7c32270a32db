/** The note of a session. */
import { noteSchema } from '../note.ts';

export const noteEvents = {
  'note.updated': noteSchema,
};
