import { oauthQuerySchema, usageResultSchema } from '#schema/rest/oauth.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Usage of the account, requested from the cloud; failures are part of the reply',
  tag: 'auth',
  query: oauthQuerySchema,
  data: usageResultSchema,
  handler: ({ query, app }) => app.managedApi.usage(query.provider),
});
