/** REST calls of generated titles. */
import type { Rest, RequestBody } from '@service-code/client';

/** The new title, which an event sends too; rejects with 40923 if none can be generated. */
export const generateTitle = (
  rest: Pick<Rest, 'request'>,
  session_id: string,
  body: RequestBody<'POST /api/v1/sessions/{session_id}/title/generate'>,
) => rest.request('POST /api/v1/sessions/{session_id}/title/generate', { path: { session_id }, body });
