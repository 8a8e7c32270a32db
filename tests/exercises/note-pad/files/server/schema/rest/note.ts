/** The note of a session: a short text that the user and the agent write. */
import * as z from 'zod';

export const NOTE_CHARS = 4000;

export const noteSchema = z.object({ content: z.string().max(NOTE_CHARS) }).meta({ id: 'Note' });
export type Note = z.infer<typeof noteSchema>;
