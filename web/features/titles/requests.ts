/** REST calls of generated titles. */
import type { GenerateTitle } from '#schema/rest/title.ts';
import type { Rest } from '../../client/rest.ts';

/** The new title, which an event sends too; rejects with 40923 if none can be generated. */
export const generateTitle = (rest: Pick<Rest, 'request'>, sessionId: string, body: Partial<GenerateTitle>) =>
  rest.request<{ title: string }>('POST', `sessions/${encodeURIComponent(sessionId)}/title/generate`, { body });
