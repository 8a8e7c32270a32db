import { importCatalogSchema, importedProviderSchema } from '#schema/rest/catalog.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Import a provider of the public model directory',
  description:
    'Writes the provider and its models; an existing provider of that id is refreshed. Without api_key the stored key stays; an empty one clears it.',
  tag: 'providers',
  operationId: 'importCatalog',
  body: importCatalogSchema,
  data: importedProviderSchema,
  status: 201,
  errors: ['catalog.unavailable', 'catalog.entry_not_found', 'catalog.import_invalid', 'provider.oauth_managed'],
  handler: ({ body, caller, app }) => app.modelDirectory.import(body, caller),
});
