import { loginFlowSchema, oauthQuerySchema } from '#schema/rest/oauth.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'The last login of a provider, null without a code',
  tag: 'auth',
  query: oauthQuerySchema,
  data: loginFlowSchema.nullable(),
  handler: ({ query, app }) => app.logins.read(query.provider),
});
