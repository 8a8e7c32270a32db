import { cancelledLoginSchema, oauthQuerySchema } from '#schema/rest/oauth.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Cancel the pending login of a provider',
  tag: 'auth',
  query: oauthQuerySchema,
  data: cancelledLoginSchema,
  handler: ({ query, app }) => app.logins.cancel(query.provider),
});
