/** REST calls about terminals. */
import type { Rest } from '../../client/rest.ts';
import type { Terminal } from '../../client/types.ts';

const pathOf = (sessionId: string) => `sessions/${encodeURIComponent(sessionId)}/terminals`;

export const listTerminals = async (rest: Rest, sessionId: string): Promise<Terminal[]> =>
  (await rest.request<{ items: Terminal[] }>('GET', pathOf(sessionId))).items;

/** Starts a terminal in the directory of the session. */
export const createTerminal = (rest: Rest, sessionId: string): Promise<Terminal> =>
  rest.request('POST', pathOf(sessionId), { body: {} });

export const closeTerminal = (rest: Rest, { session_id, id }: Terminal): Promise<{ closed: true }> =>
  rest.request('POST', `${pathOf(session_id)}/${encodeURIComponent(id)}:close`);
