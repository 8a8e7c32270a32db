import { importedRegistrySchema, importRegistrySchema } from '#schema/rest/refresh.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Import the providers of a custom registry',
  description:
    'Replaces providers that the registry lists, and removes providers of the same URL that it does not list any more. Without api_key the stored key of the registry is used.',
  tag: 'providers',
  operationId: 'importRegistry',
  body: importRegistrySchema,
  data: importedRegistrySchema,
  status: 201,
  errors: ['provider.oauth_managed', 'registry.import_invalid'],
  async handler({ body, caller, app }) {
    const { ids, modelsImported } = await app.modelRefresh.import(body, caller);
    const items = new Map((await app.providers.list()).map((item) => [item.id, item]));
    return { providers: ids.flatMap((id) => items.get(id) ?? []), models_imported: modelsImported };
  },
});
