import * as z from 'zod';
import { marketplaceEntrySchema } from '#schema/rest/plugin.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'The configured catalog of plugins, and which of them are installed',
  description: 'Reads the catalog at each request.',
  tag: 'plugins',
  operationId: 'listPluginMarketplace',
  data: z.object({ entries: z.array(marketplaceEntrySchema) }),
  handler: async ({ app }) => ({ entries: await app.plugins.marketplace() }),
});
