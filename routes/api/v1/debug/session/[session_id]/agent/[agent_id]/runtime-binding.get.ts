import { agentBindingSchema } from '#schema/rest/debug.ts';
import { defineDebugEndpoint } from '#utils/debug-endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineDebugEndpoint({
  summary: 'Read which runtime an agent of a loaded session works on',
  params: pathParams('session_id', 'agent_id'),
  data: agentBindingSchema,
  errors: ['session.not_found'],
  view: (debug, { session_id, agent_id }) => debug.agentBinding(session_id, agent_id),
});
