import { z } from 'zod';
import { providerItemSchema } from '#schema/provider.ts';
import { useApp } from '#utils/app.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'List the providers, without keys',
  tag: 'providers',
  data: z.object({ items: z.array(providerItemSchema) }),
  handler: async () => ({ items: await useApp().providers.list() }),
});
