import * as z from 'zod';
import { transcriptOpsSchema } from '#schema/rest/transcript-ops.ts';
import { readOps } from '#server/transcript/reads.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
import { queryInteger } from '#utils/query.ts';
import { plainAgentId } from '#utils/transcript-query.ts';

export default defineEndpoint({
  summary: "Read the operations that changed an agent's transcript since a batch",
  tag: 'transcript',
  params: pathParams('session_id'),
  query: z.object({ agent_id: nonEmpty, since_seq: queryInteger({ min: 0, required: true }) }).refine(...plainAgentId),
  data: transcriptOpsSchema,
  errors: ['session.not_found'],
  handler: async ({ params, query, app }) =>
    readOps(await app.sessions.transcript(params.session_id), query.agent_id, query.since_seq),
});
