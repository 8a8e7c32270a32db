import * as z from 'zod';
import { providerItemSchema } from '#schema/rest/provider.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'List the providers, without keys',
  tag: 'providers',
  tagDescription: 'Configured providers and the public model directory',
  data: z.object({ items: z.array(providerItemSchema) }),
  handler: async ({ app }) => ({ items: await app.providers.list() }),
});
