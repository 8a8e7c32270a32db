/** REST calls about the note of a session. */
import type { Rest } from '@service-code/client';

type Calls = Pick<Rest, 'request'>;

export const readNote = (rest: Calls, session_id: string) =>
  rest.request('GET /api/v1/sessions/{session_id}/note', { path: { session_id } });

export const writeNote = (rest: Calls, session_id: string, content: string) =>
  rest.request('PUT /api/v1/sessions/{session_id}/note', { path: { session_id }, body: { content } });
