import * as z from 'zod';
import { providerItemSchema, replaceProviderSchema } from '#schema/rest/provider.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Replace a provider and its models, or rename it',
  description: 'Without api_key the stored key stays; an empty one clears it.',
  tag: 'providers',
  params: pathParams('provider_id'),
  body: replaceProviderSchema,
  data: z.object({ provider: providerItemSchema }),
  errors: ['provider.oauth_managed', 'provider.not_found', 'provider.already_exists'],
  handler: async ({ params, body, caller, app }) => ({
    provider: await app.providers.replace(params.provider_id, body, caller),
  }),
});
