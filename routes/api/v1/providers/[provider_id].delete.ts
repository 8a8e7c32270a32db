import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Delete a provider and its models',
  tag: 'providers',
  params: pathParams('provider_id'),
  status: 204,
  errors: ['provider.oauth_managed', 'provider.not_found'],
  async handler({ params, caller, app }) {
    await app.providers.remove(params.provider_id, caller);
    return undefined;
  },
});
