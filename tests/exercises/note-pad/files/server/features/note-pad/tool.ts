/** NotePad: reads or replaces the note of the session. */
import * as z from 'zod';
import { event } from '#server/journal/records.ts';
import { defineTool, type Tool } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { NOTE_CHARS } from '#schema/rest/note.ts';

const parameters = z.object({
  content: z.string().max(NOTE_CHARS).optional().describe('The whole new note. Leave it out to read the present one.'),
});

/** `present` returns the note as folded from the journal. */
export function createNotePadTool(present: () => string): Tool {
  return defineTool({
    name: 'NotePad',
    permission: 'free',
    effects: 'none',
    description: 'A short note that you and the user share. Each write replaces it as a whole.',
    parameters,
    prepare: ({ content }) => ({
      accesses: [],
      label: content === undefined ? 'Read the note' : 'Write the note',
      subject: { match: 'literal' },
      run: async () =>
        content === undefined
          ? { output: present() }
          : { output: 'Written.', records: [event(MAIN_AGENT, 'note.updated', { content })] },
    }),
  });
}
