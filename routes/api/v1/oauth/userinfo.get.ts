import { oauthQuerySchema, userInfoResultSchema } from '#schema/rest/oauth.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'The user of the account, requested from the cloud; failures are part of the reply',
  tag: 'auth',
  query: oauthQuerySchema,
  data: userInfoResultSchema,
  handler: ({ query, app }) => app.managedApi.userInfo(query.provider),
});
