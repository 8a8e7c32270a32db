import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Remove a plugin from the installed ones',
  tag: 'plugins',
  operationId: 'removePlugin',
  params: pathParams('plugin_id'),
  data: z.object({ ok: z.literal(true) }),
  errors: ['plugin.not_found'],
  async handler({ params, app }) {
    await app.plugins.act(params.plugin_id, 'remove');
    return { ok: true as const };
  },
});
