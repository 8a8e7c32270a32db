import * as z from 'zod';
import { userMessagesSchema } from '#schema/rest/transcript.ts';
import { readUserMessages } from '#server/transcript/reads.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
import { plainAgentId } from '#utils/transcript-query.ts';

export default defineEndpoint({
  summary: 'List the inputs that opened the turns of an agent, or of all',
  tag: 'transcript',
  params: pathParams('session_id'),
  query: z.object({ agent_id: nonEmpty.optional() }).refine(...plainAgentId),
  data: userMessagesSchema,
  errors: ['session.not_found'],
  handler: async ({ params, query, app }) =>
    readUserMessages(await app.sessions.transcript(params.session_id), query.agent_id),
});
