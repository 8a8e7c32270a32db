import * as z from 'zod';
import { plansSchema } from '#schema/rest/transcript.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { readPlans } from '#server/transcript/plans.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
import { plainAgentId } from '#utils/transcript-query.ts';

export default defineEndpoint({
  summary: 'List the plans that an agent submitted for review',
  tag: 'transcript',
  params: pathParams('session_id'),
  query: z.object({ agent_id: nonEmpty, tool_call_id: nonEmpty.optional() }).refine(...plainAgentId),
  data: plansSchema,
  errors: ['session.not_found', 'tool_call.not_found'],
  handler: async ({ params, query, app }) =>
    readPlans(await app.sessions.transcript(params.session_id), query.agent_id, query.tool_call_id),
});
