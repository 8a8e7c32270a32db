/** The last note of the session. Undo does not revert it, and a copy of the session has it, too. */
import { defineFeatureProjection } from '#server/journal/projections/feature-projection.ts';
import type { Note } from '#schema/rest/note.ts';

export const noteProjection = defineFeatureProjection<Note>({
  name: 'note-pad',
  initial: () => ({ content: '' }),
  apply(note, record) {
    if (record.type === 'note.updated') note.content = record.content;
  },
});
