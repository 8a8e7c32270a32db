/** REST calls about the note of a session. */
import type { Note } from '#schema/rest/note.ts';
import type { Rest } from '../../client/rest.ts';

const pathOf = (sessionId: string) => `sessions/${encodeURIComponent(sessionId)}/note`;

export const readNote = (rest: Pick<Rest, 'request'>, sessionId: string): Promise<Note> =>
  rest.request('GET', pathOf(sessionId));

export const writeNote = (rest: Pick<Rest, 'request'>, sessionId: string, content: string): Promise<Note> =>
  rest.request('PUT', pathOf(sessionId), { body: { content } });
