import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Disable an installed plugin; it stays installed',
  tag: 'plugins',
  operationId: 'disablePlugin',
  params: pathParams('plugin_id'),
  data: z.object({ ok: z.literal(true) }),
  errors: ['plugin.not_found'],
  async handler({ params, app }) {
    await app.plugins.act(params.plugin_id, 'disable');
    return { ok: true as const };
  },
});
