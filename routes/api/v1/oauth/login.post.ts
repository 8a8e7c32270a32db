import { startedLoginSchema, startLoginSchema } from '#schema/rest/oauth.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Start a login; a stored login that is still accepted needs no code',
  tag: 'auth',
  body: startLoginSchema,
  bodyRequired: false,
  data: startedLoginSchema,
  handler: ({ body: { provider, region }, caller, app }) => app.logins.start(provider, { region, by: caller }),
});
