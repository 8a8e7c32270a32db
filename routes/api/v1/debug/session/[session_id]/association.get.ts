import { associationSchema } from '#schema/rest/debug.ts';
import { defineDebugEndpoint } from '#utils/debug-endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineDebugEndpoint({
  summary: 'Read the project of a loaded session',
  params: pathParams('session_id'),
  data: associationSchema,
  errors: ['session.not_found'],
  view: (debug, { session_id }) => debug.association(session_id),
});
