import { authSummarySchema } from '#schema/rest/provider.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Whether models are ready and the managed login is valid',
  tag: 'auth',
  tagDescription: 'Readiness and login',
  data: authSummarySchema,
  handler: ({ app }) => app.providers.auth(),
});
