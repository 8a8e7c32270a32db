import { searchReplySchema, searchRequestSchema } from '#schema/rest/search.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Search what was said in all sessions',
  tag: 'search',
  tagDescription: 'Search across sessions',
  body: searchRequestSchema,
  data: searchReplySchema,
  handler: ({ app, body, signal }) => app.search.search(body, signal),
});
