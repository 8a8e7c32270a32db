import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Enable an installed plugin',
  tag: 'plugins',
  operationId: 'enablePlugin',
  params: pathParams('plugin_id'),
  data: z.object({ ok: z.literal(true) }),
  errors: ['plugin.not_found'],
  async handler({ params, app }) {
    await app.plugins.act(params.plugin_id, 'enable');
    return { ok: true as const };
  },
});
