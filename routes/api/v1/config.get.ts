import { configSchema } from '#schema/config/config.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Get the configuration in effect, without secrets',
  tag: 'config',
  tagDescription: 'Configuration',
  data: configSchema,
  handler: ({ app }) => app.config.publicView(),
});
