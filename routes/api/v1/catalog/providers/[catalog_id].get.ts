import { catalogEntrySchema } from '#schema/rest/catalog.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { modelDirectoryOf } from '#utils/model-directory.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Get a provider of the public model directory',
  tag: 'providers',
  stateless: true,
  params: pathParams('catalog_id'),
  data: catalogEntrySchema,
  errors: ['catalog.unavailable', 'catalog.entry_not_found'],
  handler: async ({ params, event }) => (await modelDirectoryOf(event)).get(params.catalog_id),
});
