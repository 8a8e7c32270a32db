import { sessionListingSchema } from '#schema/rest/session-listing.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { listingQuery } from '#utils/session-listing-query.ts';

export default defineEndpoint({
  summary: 'List sessions with filters, flat or grouped by workspace, without loading any',
  tag: 'v2-sessions',
  tagDescription: 'Session lists and batch actions, second generation',
  query: listingQuery,
  data: sessionListingSchema,
  large: true,
  errors: ['page_token.mismatch'],
  handler: ({ query, app }) => app.sessions.listing(query),
});
