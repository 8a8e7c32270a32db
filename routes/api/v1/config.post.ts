import { configSchema } from '#schema/config/config.ts';
import { configPatchSchema } from '#schema/rest/config-patch.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Merge a partial configuration into the stored one',
  description: 'Objects merge recursively, lists and scalars replace, null removes. One invalid domain rejects it all.',
  tag: 'config',
  body: configPatchSchema,
  data: configSchema,
  handler: ({ body, caller, app }) => app.config.patch(body, caller),
});
