import { createProviderSchema, providerItemSchema } from '#schema/rest/provider.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Add a provider with its models',
  tag: 'providers',
  body: createProviderSchema,
  data: providerItemSchema,
  status: 201,
  errors: ['provider.already_exists'],
  handler: ({ body, caller, app }) => app.providers.create(body, caller),
});
