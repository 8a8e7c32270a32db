import * as z from 'zod';
import { sessionSchema } from '#schema/rest/session.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
import { cursorQuery, queryBoolean } from '#utils/query.ts';

export default defineEndpoint({
  summary: 'List the children of a session, most recently updated first',
  tag: 'sessions',
  params: pathParams('session_id'),
  query: cursorQuery({ busy: queryBoolean().optional() }),
  data: z.object({ items: z.array(sessionSchema), has_more: z.boolean() }),
  errors: ['session.not_found'],
  handler: ({ params, query, app }) => app.sessions.children(params.session_id, query),
});
