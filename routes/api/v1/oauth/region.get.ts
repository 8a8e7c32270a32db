import { currentRegionSchema } from '#schema/rest/oauth.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'The region of the cloud, resolved without a request',
  tag: 'auth',
  data: currentRegionSchema,
  handler: async ({ app }) => ({ region: await app.account.region() }),
});
