import { providerDetailSchema } from '#schema/rest/provider.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Get a provider with its stored key',
  tag: 'providers',
  params: pathParams('provider_id'),
  data: providerDetailSchema,
  errors: ['provider.not_found'],
  handler: ({ params, app }) => app.providers.get(params.provider_id),
});
