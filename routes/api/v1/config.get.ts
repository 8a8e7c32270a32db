import { configSchema } from '#schema/config.ts';
import { useApp } from '#utils/app.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Get the configuration in effect, without secrets',
  tag: 'config',
  data: configSchema,
  handler: () => useApp().config.publicView(),
});
