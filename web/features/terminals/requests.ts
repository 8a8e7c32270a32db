/** REST calls about terminals. */
import type { Rest, Terminal } from '@service-code/client';

export const listTerminals = async (rest: Rest, session_id: string): Promise<Terminal[]> =>
  (await rest.request('GET /api/v1/sessions/{session_id}/terminals', { path: { session_id } })).items;

/** Starts a terminal in the directory of the session. */
export const createTerminal = (rest: Rest, session_id: string): Promise<Terminal> =>
  rest.request('POST /api/v1/sessions/{session_id}/terminals', { path: { session_id }, body: {} });

export const closeTerminal = (rest: Rest, { session_id, id }: Terminal) =>
  rest.request('POST /api/v1/sessions/{session_id}/terminals/{terminal_id}:close', {
    path: { session_id, terminal_id: id },
  });
