import * as z from 'zod';
import { pluginSchema } from '#schema/rest/plugin.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Installed plugins, sorted by id',
  description: 'Waits for installs and actions that were requested before.',
  tag: 'plugins',
  tagDescription: 'Installed plugins, and the catalog of plugins',
  operationId: 'listPlugins',
  data: z.object({ plugins: z.array(pluginSchema) }),
  handler: async ({ app }) => ({ plugins: await app.plugins.list() }),
});
