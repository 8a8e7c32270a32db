import { loggedOutSchema, logoutSchema } from '#schema/rest/oauth.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Remove the login of a provider, the provider and its models',
  tag: 'auth',
  body: logoutSchema,
  bodyRequired: false,
  data: loggedOutSchema,
  async handler({ body, caller, app, afterReply }) {
    const { reply, followUp } = await app.logout(body.provider, caller);
    afterReply(followUp);
    return reply;
  },
});
