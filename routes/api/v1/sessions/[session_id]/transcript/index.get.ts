import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import { readPage } from '#server/transcript/reads.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
import { transcriptPageQuery } from '#utils/transcript-query.ts';

export default defineEndpoint({
  summary: "Page through an agent's transcript, newest turns first",
  tag: 'transcript',
  tagDescription: 'The transcript of a session',
  params: pathParams('session_id'),
  query: transcriptPageQuery(),
  data: transcriptPageSchema,
  errors: ['session.not_found'],
  handler: async ({ params, query, app }) =>
    readPage(await app.sessions.transcript(params.session_id), query.agent_id, {
      before: query.before_turn ?? query.before_id,
      after: query.after_turn ?? query.after_id,
      size: query.page_size,
    }),
});
