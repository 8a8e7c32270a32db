import { installPluginSchema, pluginSchema } from '#schema/rest/plugin.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Install a plugin, or replace the installed one with the same id',
  description:
    'The reply is sent after the install. Closing the request does not cancel it. A plugin may start programs as the user.',
  tag: 'plugins',
  operationId: 'installPlugin',
  body: installPluginSchema,
  data: pluginSchema,
  errors: ['fs.path_not_found'],
  handler: ({ body, app }) => app.plugins.install(body.source),
});
